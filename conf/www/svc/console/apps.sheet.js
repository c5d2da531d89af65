// Applications, and what else takes the tenant's users: what the lists and forms of these
// are made of.

import { rotate } from "./credentials.sheet.js";

export const TYPES = ["web", "spa", "native", "m2m", "agent"];

const PEOPLE = ["web", "spa", "native", "agent"];       // who sign people in, or may
const PUBLIC = ["spa", "native"];                       // which keep no secret
const SECRET = ["web", "m2m", "agent"];

const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const SIGN_IN = ["authorization_code", "refresh_token"];
const OWN = ["client_credentials", EXCHANGE];

// the grants that a type may have, and those that it usually has

const GRANTS = {
  web: SIGN_IN, spa: SIGN_IN, native: SIGN_IN, m2m: OWN, agent: [...OWN, ...SIGN_IN],
};
const USUAL = { ...GRANTS, m2m: ["client_credentials"], agent: OWN };

const signsIn = typed => typed.grantTypes.includes("authorization_code");
const plain = typed => typed.securityProfile !== "fapi2";
const keyed = typed => !plain(typed) || typed.tokenEndpointAuthMethod === "private_key_jwt";

const HOUR = 3600;


// What of the form an application of a type has.  The profile of FAPI 2.0 decides some of
// it by itself.

export function fieldsOf(type, { made }) {
  const own = Object.entries(form).filter(([name, { types, once }]) =>
    (!types || types.includes(type)) && !(once && made));

  return Object.fromEntries(own.map(([name, { types, once, ...field }]) =>
    [name, { ...field, ...FIRST[name]?.(type) }]));
}

const FIRST = {
  grantTypes: type => ({ options: GRANTS[type], first: USUAL[type] }),
  scopes: type => ({ first: PUBLIC.includes(type) || type === "web"
                       ? ["openid", "profile", "email"] : [] }),
  signingAlg: type => ({ first: type === "web" ? "RS256" : "ES256" }),
  accessTokenTtlSeconds: type => ({ first: type === "agent" ? HOUR / 4 : HOUR }),
  tokenEndpointAuthMethod: () => ({ options: ["client_secret_basic", "private_key_jwt"] }),
  requirePkce: type => type === "web" ? {} : { fixed: true },
};

const form = {
  name: { kind: "text", max: 100, must: true },
  ownerId: { kind: "pick", type: "user", types: ["agent"], once: true },
  redirectUris: { kind: "list", must: true, types: PEOPLE, when: signsIn },
  scopes: { kind: "list" },
  grantTypes: { kind: "checks" },
  assignment: { kind: "choice", options: ["everyone", "groups"],
                first: "everyone", types: PEOPLE },

  requireConsent: { kind: "switch", first: true, types: PEOPLE, part: "signIn" },
  requirePkce: { kind: "switch", first: true, types: PEOPLE, part: "signIn",
                 when: typed => signsIn(typed) && plain(typed) },
  requireAcr: { kind: "switch", types: PEOPLE, part: "signIn", when: signsIn },
  requirePar: { kind: "switch", types: PEOPLE, part: "signIn",
                when: typed => signsIn(typed) && plain(typed) },
  unknownScopes: { kind: "choice", options: ["refuse", "ignore"],
                   first: "refuse", part: "signIn" },

  accessTokenTtlSeconds: { kind: "duration", min: 60, max: 86400, part: "tokens" },
  accessTokenFormat: { kind: "choice", options: ["jwt", "opaque"], first: "jwt",
                       part: "tokens" },
  requireDpop: { kind: "switch", part: "tokens", when: plain },
  signingAlg: { kind: "choice", options: ["RS256", "ES256"], part: "tokens",
                when: plain },
  idTokenTtlSeconds: { kind: "duration", min: 60, max: 86400, first: HOUR, types: PEOPLE,
                       part: "tokens", when: signsIn },
  idTokenClaims: { kind: "checks", options: ["email", "profile", "groups", "roles"],
                   types: PEOPLE, part: "tokens", when: signsIn },
  groupsClaim: { kind: "choice", options: ["all", "assigned"], first: "all",
                 types: PEOPLE, part: "tokens", when: signsIn },
  refreshTokens: { kind: "choice", options: ["offline_access", "always"],
                   first: "offline_access", types: PEOPLE, part: "tokens", when: signsIn },
  refreshIdleDays: { kind: "number", min: 1, max: 365, first: 30, types: PEOPLE,
                     part: "tokens", when: signsIn },
  grantDays: { kind: "number", min: 1, max: 3650, first: 90, types: PEOPLE,
               part: "tokens", when: signsIn },

  postLogoutRedirectUris: { kind: "list", types: PEOPLE, part: "signOut", when: signsIn },
  backchannelLogoutUri: { kind: "url", max: 2048, types: PEOPLE, part: "signOut",
                          when: signsIn },
  backchannelLogoutSessionRequired: { kind: "switch", types: PEOPLE, part: "signOut",
                                      when: signsIn },

  resourceUri: { kind: "text", max: 512, part: "api" },
  defaultResourceUri: { kind: "text", max: 512, part: "api" },

  securityProfile: { kind: "choice", none: true, options: ["fapi2"], types: SECRET,
                     part: "keys" },
  tokenEndpointAuthMethod: { kind: "choice", types: SECRET, part: "keys",
                             first: "client_secret_basic", when: plain },
  jwksUri: { kind: "url", max: 2048, types: SECRET, part: "keys", when: keyed },
  jwks: { kind: "json", types: SECRET, part: "keys", when: keyed },
};

const app = id => `/applications/{${id}}`;

const saml = {
  form: {
    name: { kind: "text", max: 100, must: true },
    spEntityId: { kind: "url", max: 2048, must: true },
    acsUrl: { kind: "url", max: 2048, must: true },
  },
  acts: { remove: { method: "DELETE", path: "/admin/saml-idp/apps/{id}", kind: "confirm" } },
};


export default {

  applications: {
    path: "/applications", list: "applications", id: "clientId", one: true,
    needs: "apps:manage", label: ["name"], find: "q",
    filters: { type: TYPES, enabled: ["true", "false"] },
    columns: { name: "link", type: "word", enabled: "on", assignment: "word",
               lastUsedAt: "time", createdAt: "time" },
    facts: {
      enabled: "on", type: "word", clientId: "code", lastUsedAt: "time",
      secretRotatedAt: "time", previousSecretValidUntil: "time", createdAt: "time",
      updatedAt: "time",
    },
    form, leaves: ["type", "enabled"], create: "POST", change: "PATCH", remove: "DELETE",
    sensitive: ["create"],
    acts: {
      disable: { method: "PATCH", path: app("clientId"), give: { enabled: false },
                 kind: "confirm", where: { enabled: [true] } },
      enable: { method: "PATCH", path: app("clientId"), give: { enabled: true },
                kind: "undo", back: "disable", asks: true, where: { enabled: [false] } },
      remove: { method: "DELETE", path: app("clientId"), kind: "type" },
    },
    rotate: rotate(app("clientId") + "/secret"),
  },

  applicationGroups: {
    path: "/applications/{clientId}/groups", list: "groups", id: "id", needs: "apps:manage",
    columns: { name: "link", memberCount: "number", addedAt: "time" },
  },

  applicationConsents: {
    path: "/applications/{clientId}/consents", list: "consents", id: "userId",
    needs: "apps:manage", instead: { displayName: "email" },
    columns: { displayName: "link", email: "text", scopes: "tags", resources: "tags",
               createdAt: "time", updatedAt: "time" },
  },

  settings: {
    path: "/admin/oauth/settings", needs: "apps:manage", change: "PUT",
    sensitive: ["change"],
    form: {
      maxIdTokenTtlSeconds: { kind: "duration", min: 60, max: 86400 },
      maxRefreshIdleDays: { kind: "number", min: 1, max: 365 },
      maxGrantDays: { kind: "number", min: 1, max: 3650 },
    },
  },

  "saml-apps": {
    path: "/admin/saml-idp", list: "apps", id: "id", needs: "apps:manage",
    label: ["name"],
    columns: { name: "link", spEntityId: "text", acsUrl: "text", createdAt: "time" },
    add: { method: "POST", path: "/admin/saml-idp/apps", form: saml.form },
    acts: saml.acts,
  },

  samlApp: {
    path: "/admin/saml-idp/apps/{id}", id: "id", needs: "apps:manage", label: ["name"],
    facts: { createdAt: "time", id: "code" }, change: "PATCH", ...saml,
  },

  "scim-targets": {
    path: "/admin/scim-targets", list: "scimTargets", id: "id", one: true,
    needs: "apps:manage", label: ["name"], find: "q", directive: "svc_scim_targets on",
    tones: {
      lastSyncStatus: { success: "good", queued: "info", running: "info", partial: "warn",
                        failing: "bad", held: "bad" },
    },
    columns: { name: "link", lastSyncStatus: "badge", enabled: "on",
               "stats.users": "number", "stats.pending": "number", "stats.errors": "number",
               lastSyncAt: "time" },
    facts: { enabled: "on", clientId: "copy", lastSyncAt: "time", createdAt: "time",
             updatedAt: "time", id: "code" },
    form: {
      clientId: { kind: "pick", type: "application", max: 64, must: true },
      name: { kind: "text", max: 100, must: true },
      baseUrl: { kind: "url", max: 2048, must: true },
      token: { kind: "password", max: 4096, must: true, autocomplete: "new-password" },
      enabled: { kind: "switch", first: true },
    },
    create: "POST", change: "PUT", remove: "DELETE",
    acts: {
      remove: { method: "DELETE", path: "/admin/scim-targets/{id}", kind: "type" },
    },
    sync: { method: "POST", path: "/admin/scim-targets/{id}/sync" },
    test: { method: "POST", path: "/admin/scim-targets/{id}/test" },
  },

  scimTargetUsers: {
    path: "/admin/scim-targets/{id}/users", list: "users", id: "userId",
    needs: "apps:manage", filters: { state: ["error", "pending", "synced"] },
    tones: { state: { error: "bad", pending: "info", synced: "good" } },
    columns: { email: "text", state: "badge", error: "text", attempts: "number",
               nextAttemptAt: "time", syncedAt: "time" },
    sync: { method: "POST", path: "/admin/scim-targets/{id}/users/{userId}/sync" },
    user: { path: "/admin/scim-targets/{id}/users/{userId}", needs: "apps:manage" },
  },

  catalogue: {
    path: "/integrations", list: "integrations", id: "key", one: true, needs: "apps:manage",
    label: ["name"], find: "q",
    filters: { category: ["collaboration", "creative", "data", "development",
                          "infrastructure", "monitoring", "productivity", "sales", "security",
                          "storage", "support"] },
    columns: { name: "link", category: "word", protocols: "tags" },
    facts: { category: "word", protocols: "tags" },
  },
};

// What the views ask for that no sheet says: how many users a target that is held would
// lose, and the tokens of an application.

export const operations = ["GET /v1/admin/audit", "GET /v1/applications/{clientId}/usage"];
