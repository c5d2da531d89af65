export default {
  theirs: "Was andere geändert haben, ist jetzt hier.",
  refused: "Das lässt sich nicht anwenden: Der Server würde es ablehnen, aus dem Grund oben.",
  fields: {
    minLength: "Mindestzahl der Zeichen", rejectBreached: "Passwörter aus Datenlecks ablehnen",
    rejectContextual: "Namen und Adressen in Passwörtern ablehnen",
    requireLower: "Kleinbuchstaben verlangen", requireUpper: "Großbuchstaben verlangen",
    requireDigit: "Ziffer verlangen", requireSymbol: "Sonderzeichen verlangen",
    historyCount: "Frühere Passwörter, die nicht wiederkommen dürfen", maxAgeDays: "Tage bis zum Ablauf",
  },
};
