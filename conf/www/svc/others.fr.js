export default {
  another: "Se connecter autrement",
  failed: "La connexion n'a pas fonctionné. Veuillez réessayer.",
  quote: "Si vous vous adressez à votre administrateur, indiquez",
  signInWith: "Se connecter avec {name}",
  errors: {
    conflict: "Ce compte de l'autre service appartient déjà à quelqu'un d'autre ici.",
    directory_account: "Votre mot de passe est dans l'annuaire de votre organisation : changez-le là-bas.",
    directory_password_expired: "Votre mot de passe a expiré : changez-le dans l'annuaire de votre organisation, puis connectez-vous avec le nouveau.",
    email_unverified: "L'autre service ne confirme pas votre adresse e-mail. Confirmez-la là-bas, ou connectez-vous autrement.",
    federation_denied: "L'autre service ne vous a pas connecté, ou vous avez annulé.",
    federation_failed: "La réponse de l'autre service n'est pas utilisable. Veuillez réessayer.",
    flow_expired: "Trop tard, ou commencé dans un autre navigateur. Veuillez recommencer.",
    invitation_mismatch: "L'invitation est pour une autre adresse e-mail que celle de votre connexion.",
    link_required: "Il existe déjà un compte à votre adresse. Connectez-vous autrement.",
    no_account: "Vous n'avez pas de compte ici. Demandez une invitation à votre administrateur.",
    sso_required: "Votre organisation demande de passer par sa propre connexion. Commencez par votre adresse e-mail.",
  },
};
