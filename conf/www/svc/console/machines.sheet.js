// API tokens, SCIM tokens and webhooks.

import { PERMISSIONS } from "./people.sheet.js";

const EVENTS = ["user.created", "user.login", "user.deleted"];

export default {

  tokens: {
    path: "/admin/api-tokens", list: "apiTokens", id: "id", one: true, needs: "tenant:manage",
    label: ["name"], find: "q",
    tones: { status: { active: "good", expired: "warn", revoked: "off" } },
    columns: {
      name: "link", prefix: "code", scopes: "list", status: "badge", lastUsedAt: "used",
      expiresAt: "end",
    },
    facts: {
      status: "badge", prefix: "code", scopes: "list", maker: "person", actsOnOwners: "yes",
      createdAt: "time", createdBy: "actor", lastUsedAt: "used", expiresAt: "end",
      revokedAt: "time", id: "code",
    },
    form: {
      name: { kind: "text", max: 100, must: true },
      scopes: { kind: "checks", options: PERMISSIONS, must: true },
      expiresInDays: { kind: "choice", options: [30, 90, 365], none: true, first: 90 },
    },
    leaves: ["expiresAt"],
    create: "POST", secret: "secret",
    rows: ["revoke"],
    acts: {
      revoke: { method: "DELETE", path: "/admin/api-tokens/{id}", kind: "confirm",
                where: { status: ["active"] } },
    },
  },

  scim: {
    path: "/admin/scim/tokens", list: "tokens", id: "id", one: true, needs: "tenant:manage",
    label: ["name"], find: "q",
    columns: {
      name: "link", prefix: "code", maker: "person", createdAt: "time", lastUsedAt: "used",
      revokedAt: "time",
    },
    facts: {
      prefix: "code", maker: "person", actsOnOwners: "yes", createdAt: "time",
      createdBy: "actor", lastUsedAt: "used", revokedAt: "time", id: "code",
    },
    form: { name: { kind: "text", max: 100 } },
    create: "POST", secret: "secret",
    rows: ["revoke"],
    acts: {
      revoke: { method: "DELETE", path: "/admin/scim/tokens/{id}", kind: "confirm",
                where: { revokedAt: [null] } },
    },
  },

  webhooks: {
    path: "/admin/webhooks", list: "webhooks", id: "id", one: true, needs: "tenant:manage",
    label: ["url"], find: "q", directive: "svc_webhooks on",
    columns: { url: "link", events: "list", enabled: "on", createdAt: "time" },
    facts: { enabled: "on", createdAt: "time", id: "code" },
    form: {
      url: { kind: "url", max: 2048, must: true },
      events: { kind: "checks", options: EVENTS, must: true },
      enabled: { kind: "switch", first: true },
    },
    create: "POST", change: "PATCH", remove: "DELETE", secret: "secret",
    acts: { remove: { method: "DELETE", path: "/admin/webhooks/{id}", kind: "confirm" } },
  },

  deliveries: {
    path: "/admin/webhooks/{id}/deliveries", list: "deliveries", id: "id",
    needs: "tenant:manage",
    tones: { outcome: { acknowledged: "good", retried: "warn", abandoned: "bad",
                        refused: "bad" } },
    columns: {
      createdAt: "time", event: "word", attempt: "number", outcome: "badge", status: "number",
      durationMs: "ms", error: "text", id: "copy",
    },
    again: {
      method: "POST", path: "/admin/webhooks/{webhookId}/deliveries/{id}/redeliver",
    },
  },
};

// what views that are functions ask for besides

export const operations = ["POST /v1/admin/webhooks/{id}/test"];
