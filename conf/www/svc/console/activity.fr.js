export default {
  activity: {
    empty: ["Rien dans le journal d'audit."],
    columns: { createdAt: "Quand", action: "Quoi", actor: "Qui", outcome: "Résultat" },
    options: { outcome: { success: "réussite", failure: "échec" } },
  },
};
