// By which servers of others people sign in: what the forms of these are made of.

export const PROVIDERS = ["google", "microsoft", "apple", "gitlab", "linkedin", "github",
                          "facebook", "oidc"];

// Where each has what of it is said.

export const isSingle = id => id === "saml" || id === "ldap";

export const pathTo = id => isSingle(id) ? `/admin/${id}`
  : `/admin/social/connections/${encodeURIComponent(id)}`;

// oidc-acme is one of oidc

export const kindOf = id => id.startsWith("oidc-") ? "oidc" : id;

const MAPPED = ["email", "firstName", "lastName", "displayName", "title", "department",
                "locale", "externalId"];

const mapping = names => Object.fromEntries(names.map(name =>
  [`attributeMapping.${name}`, { kind: "text", max: 255, part: "attributes" }]));


// what all have

const people = {
  domains: { kind: "list", part: "people" },
  linkByEmail: { kind: "choice", options: ["owned", "verified", "never"], first: "owned",
                 part: "people" },
  jitProvisioning: { kind: "switch", part: "people" },
};

const shared = {
  trustMfa: { kind: "switch", part: "factors" },
  mfaContexts: { kind: "list", part: "factors", rows: 6, when: typed => typed.trustMfa },
  groupMapping: {
    kind: "rows", max: 200, part: "groups", fresh: () => ({}),
    fields: { external: { kind: "text", max: 1024 }, groupId: { kind: "pick", type: "group" } },
  },
};

const change = ["jitRole", "keepLinks", "vouch"];

const covers = { owners: "good", admins: "warn", members: "warn" };

const imports = typed => typed.syncEnabled;


// What of the form a provider has.

export const fieldsOf = kind => Object.fromEntries(Object.entries(form)
  .filter(([, { of }]) => !of || of.includes(kind))
  .map(([name, { of, ...field }]) => [name, { ...field, ...OWN[kind]?.[name] }]));

const form = {
  label: { kind: "text", max: 64 },
  issuer: { kind: "url", max: 2048, of: ["oidc", "gitlab"] },
  tenantId: { kind: "text", of: ["microsoft"], known: ["organizations", "common"] },
  allowedTenants: { kind: "list", of: ["microsoft"] },
  clientId: { kind: "text", max: 255, must: true },
  clientSecret: { kind: "password", max: 4096, autocomplete: "new-password" },
  teamId: { kind: "text", max: 10, of: ["apple"] },
  keyId: { kind: "text", max: 10, of: ["apple"] },
  enabled: { kind: "switch" },
  showOnPage: { kind: "switch", first: true },
  ...people,
  trustEmail: { kind: "switch", of: ["oidc"], part: "people" },
  ...shared,
  ...mapping(MAPPED.slice(1)),
};

const OWN = {
  oidc: { issuer: { must: true } },
  apple: { clientSecret: { kind: "lines", rows: 6, secret: true }, teamId: { must: true },
           keyId: { must: true } },
};


export default {

  connections: {
    path: "/admin/social/connections", list: "connections", id: "provider",
    one: true, needs: "tenant:manage", label: ["label", "provider"],
    tones: { status: { ready: "good", pending: "info", failed: "bad" }, covers },
    columns: {
      label: "link", provider: "code", enabled: "on", status: "badge", domains: "tags",
      covers: "badge",
    },
    facts: {
      status: "badge", enabled: "on", covers: "badge", provider: "code",
      createdAt: "time", updatedAt: "time",
    },
    form, leaves: ["provider", "attributeMapping.email", ...change],
    create: "POST", change: "PATCH", remove: "DELETE",
  },

  saml: {
    path: "/admin/saml", needs: "tenant:manage", create: "PUT", tones: { covers },
    facts: { enabled: "on", covers: "badge", connection: "code", updatedAt: "time" },
    form: {
      label: { kind: "text", max: 64 },
      idpEntityId: { kind: "text", max: 1024 },
      idpSsoUrl: { kind: "url", max: 2048 },
      idpCertificates: { kind: "list" },
      nameIdFormat: { kind: "choice", first: "emailAddress",
                      options: ["emailAddress", "persistent", "transient", "unspecified"] },
      enabled: { kind: "switch" },
      showOnPage: { kind: "switch" },
      ...people, ...shared, ...mapping(MAPPED),
    },
    leaves: change,
  },

  ldap: {
    path: "/admin/ldap", needs: "tenant:manage", create: "PUT", remove: "DELETE",
    tones: { covers },
    facts: { enabled: "on", covers: "badge", connection: "code", updatedAt: "time" },
    form: {
      label: { kind: "text", max: 64 },
      url: { kind: "url", max: 2048, must: true },
      bindDn: { kind: "text", max: 1024 },
      bindPassword: { kind: "password", max: 1024, autocomplete: "new-password" },
      baseDn: { kind: "text", max: 1024, must: true },
      userFilter: { kind: "text", max: 1024, must: true },
      ...people,
      enabled: { kind: "switch", first: true },
      caCertificates: { kind: "lines", max: 65536, part: "tls" },
      uniqueIdAttribute: { kind: "text", max: 255, part: "attributes" },
      ...mapping(MAPPED),
      groupMapping: shared.groupMapping,
      syncEnabled: { kind: "switch", part: "sync" },
      syncFilter: { kind: "text", max: 1024, part: "sync", when: imports },
      syncIntervalMinutes: { kind: "number", min: 15, max: 1440, first: 60, part: "sync",
                             when: imports },
      syncDeactivate: { kind: "switch", part: "sync", when: imports },
    },
    kept: ["showOnPage", "trustMfa", "mfaContexts"],
    leaves: ["startTls", "showOnPage", "trustMfa", "mfaContexts", ...change],
    sync: { method: "POST", path: "/admin/ldap/sync", kind: "confirm", sensitive: true,
            give: { force: true } },
    test: {
      method: "POST", path: "/admin/ldap/test",
      form: { email: { kind: "email", max: 254, min: 3 },
              password: { kind: "password", max: 1024, autocomplete: "new-password" } },
    },
  },

  ldapSync: {
    path: "/admin/ldap/sync", needs: "tenant:manage",
    tones: { status: { never: "off", waiting: "info", running: "info", ok: "good",
                       failed: "bad", held: "warn" } },
    facts: {
      status: "badge", startedAt: "time", finishedAt: "time", nextAt: "time", seen: "number",
      created: "number", updated: "number", deactivated: "number", reactivated: "number",
      conflictCount: "some",
    },
    conflicts: { columns: { email: "text", reason: "word" } },
  },
};

// what views that are functions ask for besides

export const operations = [
  "GET /v1/admin/domains", "GET /v1/admin/federation/tests/{id}", "GET /v1/admin/names",
  "POST /v1/admin/federation/{connection}/test",
];
