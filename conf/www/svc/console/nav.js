// The views of the console, by the name that is in their address, in the order in
// which they stand in the navigation.

import { may } from "../ui/call.js";

export const groups = [
  ["", ["overview"]],
  ["people", ["users", "groups", "invitations", "roles", "identities"]],
  ["apps", ["applications", "agents", "anomalies", "delegations", "saml-apps", "scim-targets",
            "catalogue"]],
  ["security", ["access", "risk", "passwords", "blocks", "incidents", "audit"]],
  ["signin", ["branding", "domains", "connections"]],
  ["machines", ["tokens", "scim", "webhooks", "configuration"]],
];

// The area is the name of the files that the view is in; one of the permissions suffices,
// and whoever may anything sees what needs none.
// What a view has little use "without" the operator turns on by a directive of that name.

export const views = {
  overview: { area: "overview", needs: [] },
  users: { area: "people", needs: ["users:view"] },
  groups: { area: "people", needs: ["groups:manage"] },
  invitations: { area: "people", needs: ["members:manage"] },
  roles: { area: "people", needs: ["roles:manage"] },
  identities: { area: "people", needs: ["users:view"] },
  applications: { area: "apps", needs: ["apps:manage"], without: "oauth" },
  agents: { area: "agents", needs: ["apps:manage"], without: "oauth" },
  anomalies: { area: "agents", needs: ["apps:manage"], without: "oauth" },
  delegations: { area: "agents", needs: ["apps:manage"], without: "oauth" },
  "saml-apps": { area: "apps", needs: ["apps:manage"] },
  "scim-targets": { area: "apps", needs: ["apps:manage"] },
  catalogue: { area: "apps", needs: ["apps:manage"] },
  access: { area: "policy", needs: ["tenant:manage"] },
  risk: { area: "policy", needs: ["tenant:manage"] },
  passwords: { area: "policy", needs: ["tenant:manage"] },
  blocks: { area: "tenant", needs: ["tenant:manage"] },
  incidents: { area: "audit", needs: ["audit:view"] },
  audit: { area: "audit", needs: ["audit:view"] },
  branding: { area: "signin", needs: ["tenant:manage"] },
  domains: { area: "tenant", needs: ["tenant:manage"] },
  connections: { area: "connections", needs: ["tenant:manage"] },
  tokens: { area: "machines", needs: ["tenant:manage"] },
  scim: { area: "machines", needs: ["tenant:manage"], without: "scim" },
  webhooks: { area: "machines", needs: ["tenant:manage"] },
  configuration: { area: "policy", needs: ["tenant:manage"] },
};

export const allowed = view => Object.hasOwn(views, view)
  && (views[view].needs.length === 0 || views[view].needs.some(may));


// What an address shows: /console/{view}, /console/{view}/new, /console/{view}/{id} or
// /console/{view}/{id}/{tab}.

export function viewOf(path) {
  const [view, id, tab] = path.split("/").slice(2).filter(Boolean).map(decodeURIComponent);

  return { view, id, tab };
}

export const at = (view, id, tab) =>
  ["/console", view, id, tab].filter(part => part !== undefined && part !== null)
    .map((part, n) => n === 0 ? part : encodeURIComponent(part)).join("/");
