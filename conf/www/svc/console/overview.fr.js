export default {
  overview: {
    title: "Vue d'ensemble",
    period: "Période",
    days: { one: "{n} jour", other: "{n} jours" },

    trouble: {
      title: "À traiter",
      none: "Rien ne demande votre attention",
      states: { open: "ouvert", failing: "en échec", held: "suspendu", failed: "échoué" },
      of: { incidents: "Incidents", anomalies: "Anomalies", targets: "Cibles SCIM", deliveries: "Webhooks" },
      incidents: { one: "{n} incident que personne n'a acquitté", other: "{n} incidents que personne n'a acquittés" },
      anomalies: { one: "{n} anomalie d'agents que personne n'a acquittée", other: "{n} anomalies d'agents que personne n'a acquittées" },
      targets: { failing: "{name} refuse tout ce que SCIM lui envoie", held: "{name} perdrait de nombreux utilisateurs : à vérifier et à confirmer" },
      deliveries: "{name} n'a pas accepté un webhook au cours des dernières 24 heures",
    },

    signIns: {
      title: "Connexions", success: "Réussies", failure: "Échouées", denied: "Refusées", lockouts: "Comptes verrouillés",
      rateLimited: "Ralenties", mfa: "Utilisateurs avec un second facteur", mfaOf: "{n} sur {all}",
      factor: "second facteur", by: { blocked: "adresse bloquée", policy: "stratégie", risk: "risque" },
      none: "Personne n'a essayé de se connecter ces jours-là.",
    },

    users: {
      title: "Utilisateurs", total: "Total", fresh: "Nouveaux", active: "Connectés",
      activeIn: { one: "Connectés aujourd'hui", other: "Connectés en {n} jours" },
      pending: { one: "{n} invitation est en attente", other: "{n} invitations sont en attente" },
      nobody: "Aucune invitation n'est en attente.", none: "Personne ne s'est connecté ces jours-là.",
    },

    chart: { utc: "jours UTC", table: "Sous forme de tableau", day: "Jour" },

    steps: {
      title: "Premiers pas", show: "Premiers pas", hide: "Masquer",
      count: "{n} sur {all} sont faits.", whole: "Tous sont faits.",
      states: { done: "fait", todo: "à faire", unknown: "inconnu" },
      of: {
        factor: { title: "Ajouter votre second facteur", note: "Une clé d'accès, ou une application qui donne des codes : un mot de passe seul ne protège pas un compte d'administration." },
        owner: { title: "Inviter un second propriétaire", note: "Pour que quelqu'un puisse aider quand l'un de vous n'a plus accès." },
        invited: { title: "Inviter quelqu'un", note: "Chacun choisit son mot de passe par un lien." },
        logo: { title: "Envoyer votre logo", note: "Il montre que la page de connexion est bien la vôtre." },
        mail: { title: "Les e-mails partent", note: "Les mots de passe oubliés et les codes en ont besoin. L'exploitant du serveur le met en place avec svc_mail." },
        policy: { title: "Décider qui peut entrer, et d'où", note: "Par des règles de réseaux, de pays et d'horaires, ou selon le risque d'une connexion." },
        application: { title: "Relier une application", note: "Celle où vos utilisateurs se connectent, avec OpenID Connect." },
        connected: { title: "Relier un annuaire ou un webhook", note: "Un annuaire provisionne des utilisateurs par SCIM ; un webhook apprend ce qui se passe ici." },
        domain: { title: "Vérifier un domaine", note: "On sait alors quelles adresses sont les vôtres." },
      },
    },
  },
};
