export default {
  activity: {
    empty: ["Im Audit-Protokoll steht nichts."],
    columns: { createdAt: "Wann", action: "Was", actor: "Wer", outcome: "Ergebnis" },
    show: "Zeigen",
    ways: { about: "Ereignisse dazu", by: "eigene Handlungen", named: "alle Erwähnungen" },
    options: { outcome: { success: "Erfolg", failure: "Fehlschlag" } },
  },
};
