export default {
  another: "Anders anmelden",
  failed: "Die Anmeldung hat nicht geklappt. Bitte versuchen Sie es noch einmal.",
  quote: "Wenn Sie Ihre Administration fragen, nennen Sie",
  signInWith: "Mit {name} anmelden",
  errors: {
    conflict: "Dieses Konto des anderen Dienstes gehört hier schon zu jemand anderem.",
    directory_account: "Ihr Passwort liegt im Verzeichnis Ihrer Organisation: Ändern Sie es dort.",
    directory_password_expired: "Ihr Passwort ist abgelaufen: Ändern Sie es im Verzeichnis Ihrer Organisation, und melden Sie sich mit dem neuen an.",
    email_unverified: "Der andere Dienst bestätigt Ihre E-Mail-Adresse nicht. Bestätigen Sie sie dort, oder melden Sie sich anders an.",
    federation_denied: "Der andere Dienst hat Sie nicht angemeldet, oder Sie haben abgebrochen.",
    federation_failed: "Die Antwort des anderen Dienstes war nicht zu gebrauchen. Bitte versuchen Sie es noch einmal.",
    flow_expired: "Das dauerte zu lange oder wurde in einem anderen Browser begonnen. Bitte beginnen Sie von vorn.",
    invitation_mismatch: "Die Einladung gilt für eine andere E-Mail-Adresse als die, mit der Sie sich angemeldet haben.",
    link_required: "Zu Ihrer Adresse gibt es schon ein Konto. Melden Sie sich auf andere Weise an.",
    no_account: "Sie haben hier kein Konto. Bitten Sie Ihre Administration um eine Einladung.",
    sso_required: "Ihre Organisation möchte, dass Sie sich über ihre eigene Anmeldung anmelden. Beginnen Sie mit Ihrer E-Mail-Adresse.",
  },
};
