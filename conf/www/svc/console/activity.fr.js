export default {
  activity: {
    empty: ["Rien dans le journal d'audit."],
    columns: { createdAt: "Quand", action: "Quoi", actor: "Qui", outcome: "Résultat" },
    show: "Afficher",
    ways: { about: "événements à ce sujet", by: "ses propres actions", named: "toutes les mentions" },
    options: { outcome: { success: "réussite", failure: "échec" } },
  },
};
