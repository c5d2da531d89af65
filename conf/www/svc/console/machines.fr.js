import permissions from "./permissions.fr.js";

const token = {
  name: "Nom", prefix: "Commence par", maker: "À qui", actsOnOwners: "Peut gérer les propriétaires",
  createdAt: "Créé", createdBy: "Créé par", lastUsedAt: "Dernier usage", revokedAt: "Révoqué",
  id: "Id",
};

export default {
  tokens: {
    title: "Jetons d'API", one: "Jeton d'API", new: "Nouveau jeton", made: "{name} est créé",
    note: "Avec un jeton, un programme utilise l'API d'administration. Ce qui lui est permis est fixé à sa création.",
    empty: ["Il n'y a pas encore de jeton.",
            "Créez-en un par programme, sans plus d'autorisations qu'il n'en faut."],
    secret: "Le jeton",
    use: "Essayez-le :",
    columns: { ...token, scopes: "Autorisations", status: "Statut", expiresAt: "Fin" },
    options: {
      status: { active: "actif", expired: "expiré", revoked: "révoqué" },
      expiresInDays: { 30: "après 30 jours", 90: "après 90 jours", 365: "après un an" },
      scopes: permissions,
    },
    none: { expiresInDays: "jamais, jusqu'à sa révocation" },
    fields: { name: "Nom", scopes: "Autorisations", expiresInDays: "Il expire" },
    help: { name: "À quoi il sert, pour que d'autres sachent qui en a besoin." },
    notYours: "votre propre rôle ne l'a pas",
    tabs: { one: "Jeton", activity: "Activité" },
    acts: {
      revoke: { verb: "Révoquer", title: "Révoquer {name} ?", done: "{name} est révoqué.",
                notes: ["Ce qui utilise le jeton {prefix}… est refusé dès sa prochaine requête. C'est irréversible.",
                        "Dernier usage : {lastUsedAt}. Autorisations : {scopes}.",
                        "Ce qu'il a créé reste."] },
    },
  },

  scim: {
    title: "Jetons SCIM", one: "Jeton SCIM", new: "Nouveau jeton", made: "{name} est créé",
    note: "Avec un jeton SCIM, un annuaire comme Entra ID ou Okta provisionne ici des utilisateurs.",
    empty: ["Il n'y a pas encore de jeton.",
            "Créez-en un pour chaque annuaire qui doit provisionner des utilisateurs."],
    secret: "Le jeton", baseUrl: "L'adresse de provisionnement",
    columns: token,
    fields: { name: "Nom" },
    help: { name: "Celui de l'annuaire, par exemple. Sans nom, il s'appelle SCIM." },
    tabs: { one: "Jeton", activity: "Activité" },
    guides: [
      ["Microsoft Entra ID", [
        "Ouvrez l'application d'entreprise, puis Approvisionnement (Provisioning), et choisissez le mode Automatique.",
        "Sous Informations d'identification de l'administrateur, l'URL de locataire (Tenant URL) est {url}, et le jeton secret (Secret Token) est le jeton ci-dessus. Testez la connexion.",
        "Sous Mappages (Mappings), désactivez les groupes : seuls les utilisateurs sont provisionnés.",
        "Associez userName à un attribut qui est une adresse e-mail, et externalId à objectId.",
        "Affectez des personnes à l'application, et démarrez l'approvisionnement.",
      ]],
      ["Okta", [
        "Dans l'application, activez SCIM provisioning, et ouvrez Provisioning, Integration.",
        "SCIM connector base URL est {url} ; unique identifier field est userName.",
        "Cochez Push New Users et Push Profile Updates ; laissez Push Groups désactivé.",
        "Authentication mode est HTTP Header, avec le jeton ci-dessus.",
        "Sous To App, autorisez la création, la modification et la désactivation d'utilisateurs, et affectez des personnes.",
      ]],
    ],
    acts: {
      revoke: { verb: "Révoquer", title: "Révoquer {name} ?", done: "{name} est révoqué.",
                notes: ["L'annuaire qui utilise le jeton {prefix}… ne provisionne plus personne dès sa prochaine requête, et ne désactive plus personne non plus. C'est irréversible.",
                        "Dernier usage : {lastUsedAt}.",
                        "Les utilisateurs qu'il a provisionnés restent tels quels."] },
    },
  },

  webhooks: {
    title: "Webhooks", one: "Webhook", new: "Nouveau webhook", made: "Le webhook est créé",
    note: "Un webhook est informé de ce qui se passe ici, par une requête signée à une adresse à vous.",
    empty: ["Il n'y a pas encore de webhook.",
            "Créez-en un pour informer un de vos systèmes quand des personnes arrivent, se connectent ou partent."],
    secret: "Le secret qui signe les livraisons",
    columns: { url: "Adresse", events: "Événements", enabled: "État", createdAt: "Créé", id: "Id" },
    options: {
      events: { "user.created": "user.created : quelqu'un a été provisionné, ou a accepté une invitation",
                "user.login": "user.login : quelqu'un s'est connecté",
                "user.deleted": "user.deleted : un compte a été effacé" },
    },
    fields: { url: "Adresse", events: "Événements", enabled: "Envoyer les livraisons" },
    help: { url: "Elle commence par https:// et se trouve dans un réseau public. Une nouvelle adresse reçoit aussi ce qui est en attente.",
            enabled: "S'il est désactivé, ce qui est en attente est abandonné, et ce qui se passe entre-temps n'est jamais envoyé." },
    tabs: { one: "Webhook", deliveries: "Livraisons", rotate: "Nouveau secret", activity: "Activité" },
    verify: "Vérifiez chaque livraison avant d'analyser son corps. En Python :", verifyNode: "En Node.js :",
    refresh: "Actualiser",
    test: {
      title: "Envoyer un exemple", verb: "Envoyer un exemple",
      off: "Rien n'est envoyé tant qu'il est désactivé.",
      note: "Un user.created de personne, avec \"test\": true.",
      waiting: "Envoyé, en cours de livraison …",
      still: "Pas confirmé en cinq secondes. Les livraisons montrent la suite.",
      none: "En route. Les livraisons le montreront.",
      over: { acknowledged: "La livraison a été confirmée.", abandoned: "La livraison a été abandonnée.",
              refused: "Rien n'a été envoyé : cette adresse n'est pas permise." },
    },
    rotate: {
      note: "Le secret d'un webhook ne change pas. Un nouveau vient avec un second webhook ; rien n'est manqué entre-temps.",
      make: "Créez un second webhook",
      makeNote: "Il a la même adresse et les mêmes événements, et un secret à lui. Dès lors, chaque événement arrive deux fois, avec un même id.",
      makeVerb: "Créer",
      both: "Faites accepter les deux secrets à la destination",
      bothNote: "Une livraison est authentique si sa signature est juste avec l'un ou l'autre.",
      test: "Envoyez un exemple avec le nouveau secret",
      remove: "Supprimez l'ancien webhook",
      removeNote: "Ensuite, ne faites accepter que le nouveau secret à la destination.",
      removeVerb: "Supprimer l'ancien",
    },
    acts: {
      remove: { verb: "Supprimer", title: "Supprimer ce webhook ?", done: "Le webhook est supprimé.",
                notes: ["{name}", "Ce qui est en attente n'est pas envoyé, et rien d'autre ensuite."] },
    },
  },

  deliveries: {
    empty: ["Rien n'a été livré au cours des sept derniers jours."],
    columns: { createdAt: "Quand", event: "Événement", attempt: "Essai", outcome: "Résultat",
               status: "Statut", durationMs: "Durée", error: "Erreur", id: "Livraison" },
    again: { verb: "Livrer à nouveau", done: "Elle est en route. Les récepteurs la reconnaissent à son id." },
    options: {
      outcome: { acknowledged: "confirmée", retried: "échouée, sera réessayée",
                 abandoned: "abandonnée", refused: "non permise" },
    },
  },
};
