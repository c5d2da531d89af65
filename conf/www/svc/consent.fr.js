export default {
  allow: "Autoriser",
  clientWrong: "Cette application ne peut pas vous connecter",
  clientWrongNote: "Nous ne pouvons pas répondre à sa demande. Adressez-vous à la personne qui la gère.",
  consent: "{client} demande un accès",
  consentAs: "Vous êtes connecté en tant que {name}.",
  consentAt: "Auprès de :",
  consentNote: "Si vous l’autorisez, {host} pourra voir ou faire ceci en votre nom :",
  refuse: "Refuser",
  scopes: {
    openid: "Savoir que c’est vous",
    profile: "Voir votre nom",
    email: "Voir votre adresse e-mail",
    offline_access: "Le faire aussi en votre absence",
  },
  errors: {
    client_refused: "L’application demande ce qui ne lui est pas permis.",
    conflict: "Une autre personne s’est connectée ici. Veuillez recharger cette page.",
  },
};
