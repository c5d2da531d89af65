// The audit log, and incidents.

const tones = { outcome: { success: "good", failure: "bad" } };

export const operations = ["GET /v1/admin/audit/export", "GET /v1/admin/audit/stream"];

export default {

  audit: {
    path: "/admin/audit", list: "events", id: "id", one: true, needs: "audit:view",
    label: ["action"], find: "q", tones, rare: ["actorId", "targetId", "requestId"],
    filters: { outcome: ["success", "failure"], action: "text", actorId: "text",
               targetId: "text", requestId: "text", from: "time", to: "time" },
    columns: { createdAt: "time", action: "code", actor: "actor", target: "actor", ip: "code",
               outcome: "badge" },
    facts: { createdAt: "time", action: "code", outcome: "badge", actor: "actor",
             target: "actor", ip: "copy", country: "text", userAgent: "text",
             requestId: "copy", id: "copy" },
  },

  incidents: {
    path: "/admin/security-incidents", list: "securityIncidents", id: "id", one: true,
    needs: "audit:view", changes: "tenant:manage", label: ["title"], find: "q",
    filters: { all: ["false", "true"] },
    tones: { severity: { high: "bad", medium: "warn" },
             status: { open: "warn", acknowledged: "off" } },
    columns: { createdAt: "time", severity: "badge", title: "link", status: "badge",
               acknowledgedBy: "actor" },
    facts: { createdAt: "time", severity: "badge", status: "badge", acknowledgedBy: "actor",
             acknowledgedAt: "time", id: "copy" },
    acts: {
      ack: { method: "POST", path: "/admin/security-incidents/{id}/ack", kind: "confirm",
             where: { status: ["open"] } },
    },
  },
};
