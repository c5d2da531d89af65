export default {
  "apps:manage": "Les applications, les agents et ce qui leur est permis",
  "audit:view": "Le journal d'audit, les statistiques et les incidents",
  "groups:manage": "Les groupes, leurs membres et leurs applications",
  "members:manage": "Les personnes : les inviter, modifier, suspendre et effacer, et attribuer des rôles",
  "roles:manage": "Les rôles propres à l'organisation",
  "tenant:manage": "La connexion, les stratégies, l'apparence, les domaines, les jetons et les webhooks",
  "users:view": "Consulter l'annuaire",
};
