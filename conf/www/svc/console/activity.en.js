export default {
  activity: {
    empty: ["Nothing is in the audit log."],
    columns: { createdAt: "When", action: "What", actor: "Who", outcome: "Outcome" },
    options: { outcome: { success: "success", failure: "failure" } },
  },
};
