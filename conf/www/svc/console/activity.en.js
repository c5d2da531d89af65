export default {
  activity: {
    empty: ["Nothing is in the audit log."],
    columns: { createdAt: "When", action: "What", actor: "Who", outcome: "Outcome" },
    show: "Show",
    ways: { about: "events about this one", by: "own actions", named: "all mentions" },
    options: { outcome: { success: "success", failure: "failure" } },
  },
};
