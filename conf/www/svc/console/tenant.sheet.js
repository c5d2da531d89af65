// Addresses that are blocked, and domains.

// what an operator turns on for connections

export const FEDERATION = "svc_federation on";

export default {

  blocks: {
    path: "/admin/ip-blocks", list: "ipBlocks", id: "ip", one: true, needs: "tenant:manage",
    label: ["ip"], find: "q",
    columns: { ip: "link", reason: "text", createdBy: "actor", createdAt: "time",
               expiresAt: "end" },
    facts: { reason: "text", createdBy: "actor", createdAt: "time", expiresAt: "end" },
    form: {
      ip: { kind: "text", must: true },
      reason: { kind: "text", max: 200 },
      expiresAt: { kind: "time" },
    },
    create: "POST", remove: "DELETE",
    rows: ["remove"],
    acts: {
      remove: { method: "DELETE", path: "/admin/ip-blocks/{ip}", kind: "undo", back: "block" },
      block: { method: "POST", path: "/admin/ip-blocks",
               body: { ip: "ip", reason: "reason", expiresAt: "expiresAt" } },
    },
  },

  domains: {
    path: "/admin/domains", list: "domains", id: "domain", one: true, needs: "tenant:manage",
    label: ["domain"], find: "q",
    tones: { status: { pending: "info", verified: "good" } },
    columns: { domain: "link", status: "badge", signIn: "code", createdAt: "time",
               verifiedAt: "time" },
    facts: { status: "badge", signIn: "code", includeSubdomains: "yes", createdAt: "time",
             verifiedAt: "time" },
    form: { domain: { kind: "text", must: true } },
    create: "POST", remove: "DELETE",
    acts: {
      remove: { method: "DELETE", path: "/admin/domains/{domain}", kind: "confirm",
                sensitive: true },
    },
  },
};

// what views that are functions ask for besides

export const operations = [
  "GET /v1/admin/ldap", "GET /v1/admin/saml", "GET /v1/admin/social/connections",
  "GET /v1/auth/sessions",
  "POST /v1/admin/domains/{domain}/verify", "PUT /v1/admin/domains/{domain}/sign-in",
];
