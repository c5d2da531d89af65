// What the overview asks for.  Whatever somebody lacks the permission for is not asked.

const RECENT = 20;              // deliveries that have failed
const TARGETS = 100;            // as many as a tenant may have, and more

export default {

  signIns: { path: "/admin/security-stats", needs: "audit:view" },
  users: { path: "/admin/growth-stats", needs: "users:view" },
  anomalies: { path: "/admin/agents/anomalies", list: "anomalies", needs: "apps:manage",
               query: { limit: 1 } },
  targets: { path: "/admin/scim-targets", list: "scimTargets", needs: "apps:manage",
             query: { limit: TARGETS } },
  deliveries: { path: "/admin/audit", list: "events", needs: "audit:view",
                query: { action: "webhook.delivery_failed", limit: RECENT } },
  pending: { path: "/admin/invitations", list: "invitations", needs: "members:manage",
             query: { status: "pending", limit: 1 } },

  // what the first steps are known by

  owners: { path: "/admin/members", list: "members", needs: "members:manage",
            query: { role: "owner", limit: 1 } },
  people: { path: "/admin/members", list: "members", needs: "members:manage",
            query: { limit: 1 } },
  logo: { path: "/tenants/{slug}/branding" },
  versions: { path: "/admin/access-policy/versions", list: "versions", needs: "tenant:manage",
              query: { limit: 1 } },
  risk: { path: "/admin/risk-policy", needs: "tenant:manage" },
  applications: { path: "/applications", list: "applications", needs: "apps:manage",
                  query: { limit: 1 } },
  tokens: { path: "/admin/scim/tokens", list: "tokens", needs: "tenant:manage",
            query: { limit: 1 } },
  webhooks: { path: "/admin/webhooks", list: "webhooks", needs: "tenant:manage",
              query: { limit: 1 } },
  domains: { path: "/admin/domains", list: "domains", needs: "tenant:manage" },
};
