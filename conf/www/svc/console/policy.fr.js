export default {
  theirs: "Les modifications des autres sont chargées.",
  refused: "Ceci ne peut pas être appliqué : le serveur le refuserait, pour la raison ci-dessus.",
  fields: {
    minLength: "Nombre minimal de caractères", rejectBreached: "Refuser les mots de passe connus de fuites",
    rejectContextual: "Refuser les noms et adresses dans les mots de passe",
    requireLower: "Exiger une minuscule", requireUpper: "Exiger une majuscule",
    requireDigit: "Exiger un chiffre", requireSymbol: "Exiger un symbole",
    historyCount: "Anciens mots de passe interdits", maxAgeDays: "Jours avant expiration",
  },
};
