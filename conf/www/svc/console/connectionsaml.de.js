export default {
  unused: "Das wird aufbewahrt, und noch meldet sich niemand über SAML an: Die beiden URLs antworten 404, bis das geht.",
  fields: {
    idpEntityId: "Entity-ID des Identity Providers", idpSsoUrl: "URL der Anmeldung",
    idpCertificates: "Zertifikate", nameIdFormat: "Wie er die Leute nennt",
  },
  help: {
    enabled: "Das wirkt noch nicht. Dann muss alles vom Identity Provider da sein.",
    idpSsoUrl: "Wohin die Leute zur Anmeldung geschickt werden. Sie beginnt mit https://.",
    idpCertificates: "Als PEM, bis zu fünf hintereinander: womit er unterschreibt. RSA mit mindestens 2.048 Bit, oder EC.",
  },
  options: {
    nameIdFormat: { emailAddress: "nach der E-Mail-Adresse", persistent: "mit einem Namen, der bleibt",
                    transient: "jedes Mal anders", unspecified: "wie er möchte" },
  },
  urls: { spEntityId: "Unsere Entity-ID", acsUrl: "Wohin er die Leute zurückschickt (ACS)" },
};
