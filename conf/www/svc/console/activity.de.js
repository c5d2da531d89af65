export default {
  activity: {
    empty: ["Im Audit-Protokoll steht nichts."],
    columns: { createdAt: "Wann", action: "Was", actor: "Wer", outcome: "Ergebnis" },
    options: { outcome: { success: "Erfolg", failure: "Fehlschlag" } },
  },
};
