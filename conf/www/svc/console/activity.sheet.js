// A part of the audit log.

export default {
  activity: {
    path: "/admin/audit", list: "events", id: "id", needs: "audit:view",
    tones: { outcome: { success: "good", failure: "bad" } },
    columns: { createdAt: "time", action: "code", actor: "actor", outcome: "badge" },
  },
};
