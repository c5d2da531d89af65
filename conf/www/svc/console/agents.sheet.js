// Agents, and what is unusual of them: what the lists and forms of these are made of.

import { rotate } from "./credentials.sheet.js";

const agent = rest => `/admin/agents/{clientId}/${rest}`;

const ceilings = {
  maxTokenTtlSeconds: { kind: "duration", min: 60, max: 86400 },
  allowedScopes: { kind: "checks" },
  allowedAudiences: { kind: "list" },
};

const severity = { low: "info", medium: "warn", high: "bad" };

export default {

  agents: {
    path: "/admin/agents", list: "agents", id: "clientId", one: true, needs: "apps:manage",
    label: ["name"], find: "q",
    filters: { status: ["active", "disabled", "expired", "orphaned"], ownerId: "user" },
    tones: {
      status: { active: "good", disabled: "bad", expired: "off", orphaned: "warn" },
      "review.status": { never: "warn", current: "good", due: "warn" },
    },
    columns: {
      name: "link", status: "badge", "identity.owner": "person",
      "review.status": "badge", policy: "node", anomalies: "number", lastUsedAt: "time",
    },
    facts: { clientId: "code", lastUsedAt: "time", secretRotatedAt: "time",
             createdAt: "time", updatedAt: "time" },
    acts: {
      kill: { method: "PATCH", path: "/applications/{clientId}", give: { enabled: false },
              kind: "confirm" },
      revive: { method: "PATCH", path: "/applications/{clientId}", give: { enabled: true },
                kind: "confirm", asks: true, where: { status: ["disabled"] } },
      reset: { method: "DELETE", path: agent("policy"), kind: "confirm", asks: true },
    },
    policy: {
      method: "PUT", path: agent("policy"),
      form: ceilings, leaves: ["enabled"],
    },
    simulate: { method: "POST", path: agent("policy/simulate"), form: ceilings,
                leaves: ["enabled"] },
    identity: {
      sensitive: true, method: "PUT", path: agent("identity"),
      form: {
        ownerId: { kind: "pick", type: "user" },
        expiresAt: { kind: "time" },
      },
    },
    review: {
      method: "POST", path: agent("review"),
      form: { note: { kind: "lines", max: 500 } },
    },
    rotate: rotate(agent("secret")),
  },

  settings: {
    path: "/admin/agents/settings", needs: "apps:manage", change: "PUT",
    sensitive: ["change"],
    form: {
      orphanAction: { kind: "choice", must: true, options: ["none", "disable"] },
      orphanGraceHours: { kind: "number", must: true, min: 0, max: 8760 },
      maxDelegationDepth: { kind: "number", must: true, min: 1, max: 5 },
      reviewIntervalDays: { kind: "number", must: true, min: 1, max: 730 },
    },
  },

  anomalies: {
    path: "/admin/agents/anomalies", list: "anomalies", id: "id", needs: "apps:manage",
    label: ["agentName"], find: "q",
    filters: { severity: ["high", "medium", "low"], all: "check" }, tones: { severity },
    columns: {
      agentName: "link", severity: "badge", type: "word", description: "text",
      "details.occurrences": "number", "details.lastSeenAt": "time",
    },
    facts: { severity: "badge", type: "word", clientId: "code", createdAt: "time", id: "code" },
    ack: { method: "POST", path: "/admin/agents/anomalies/{id}/ack" },
  },
};

// What the views ask for that no sheet says: the application that an agent is.

export const operations = ["GET /v1/applications/{clientId}"];
