export default {
  "apps:manage": "Anwendungen, Agenten und was sie dürfen",
  "audit:view": "Audit-Protokoll, Statistiken und Vorfälle",
  "groups:manage": "Gruppen, ihre Mitglieder und ihre Anwendungen",
  "members:manage": "Personen: einladen, ändern, sperren und löschen, und Rollen vergeben",
  "roles:manage": "Eigene Rollen der Organisation",
  "tenant:manage": "Anmeldung, Richtlinien, Erscheinungsbild, Domains, Token und Webhooks",
  "users:view": "Das Verzeichnis ansehen",
};
