// People, their groups and their roles: what the lists and forms of these are made of.

export const PERMISSIONS = ["apps:manage", "audit:view", "groups:manage", "members:manage",
                            "roles:manage", "tenant:manage", "users:view"];

const tones = { active: "good", suspended: "warn", deactivated: "off" };
const STATUS = ["active", "suspended", "deactivated"];

// what the views call besides

export const operations = ["PUT /v1/admin/members/{userId}"];

export default {

  users: {
    path: "/admin/users", list: "users", id: "id", one: true, needs: "users:view",
    label: ["displayName", "email"], typed: "email", find: "q",
    filters: { status: STATUS, locked: ["true", "false"], factor: ["with", "without"] },
    instead: { displayName: "email" }, tones: { status: tones },
    columns: {
      displayName: "link", email: "text", role: "text", status: "badge", mfaEnrolled: "yes",
      lastLoginAt: "time",
    },
    facts: {
      status: "badge", role: "text", mfaEnrolled: "yes", locked: "yes", source: "word",
      emailVerified: "yes", externalId: "code", lastLoginAt: "time", createdAt: "time",
      id: "code",
    },
    form: {
      email: { kind: "email", max: 254, must: true },
      displayName: { kind: "text", max: 1024 },
      firstName: { kind: "text", max: 1024 },
      lastName: { kind: "text", max: 1024 },
      title: { kind: "text", max: 1024 },
      department: { kind: "text", max: 1024 },
      locale: { kind: "text", max: 1024 },
    },
    change: "PUT", changes: "members:manage", remove: "DELETE",
    acts: {
      suspend: { method: "POST", path: "/admin/users/{id}/suspend", kind: "undo",
                 back: "reactivate", where: { status: ["active"] } },
      reactivate: { method: "POST", path: "/admin/users/{id}/reactivate", kind: "undo",
                    back: "suspend", where: { status: ["suspended"] } },
      unlock: { method: "POST", path: "/admin/users/unlock", body: { userId: "id" },
                kind: "confirm", where: { locked: [true] } },
      logout: { method: "POST", path: "/admin/users/{id}/logout", kind: "confirm" },
      resetLink: { method: "POST", path: "/admin/users/{id}/reset-link", kind: "confirm",
                   sensitive: true, feature: "mail", where: { status: ["active"] } },
      resetMfa: { method: "POST", path: "/admin/users/{id}/reset-mfa", kind: "confirm",
                  sensitive: true, where: { mfaEnrolled: [true] } },
      takeRole: { method: "DELETE", path: "/admin/members/{id}", kind: "confirm",
                  sensitive: true, unless: { role: ["member"] } },
      remove: { method: "DELETE", path: "/admin/users/{id}", kind: "type", sensitive: true },
    },
    many: ["suspend", "reactivate", "logout"], joins: "groupMembers",
  },

  // What of a user there is beside the profile.  An act is about a row; "above" names the
  // id of the user, which the view adds to it.

  userGroups: {
    path: "/admin/users/{id}/groups", list: "groups", id: "id", needs: "users:view",
    columns: { name: "link", connection: "text", addedAt: "time" },
  },

  userSessions: {
    path: "/admin/users/{id}/sessions", list: "sessions", id: "id", needs: "members:manage",
    label: ["userAgent"],
    columns: { userAgent: "text", methods: "list", ip: "code", country: "text",
               createdAt: "time", lastSeenAt: "time" },
    acts: { end: { method: "DELETE", path: "/admin/users/{userId}/sessions/{id}",
                   above: "userId", kind: "confirm", needs: "members:manage" } },
  },

  userFactors: {
    path: "/admin/users/{id}/factors", list: "factors", id: "id", needs: "members:manage",
    columns: { name: "text", type: "word", confirmed: "yes", createdAt: "time",
               lastUsedAt: "time" },
  },

  userLinks: {
    path: "/admin/users/{id}/links", list: "links", id: "id", needs: "users:view",
    label: ["email", "connection"],
    columns: { connection: "text", email: "text", linkedAt: "time", lastAt: "time" },
    acts: { unlink: { method: "DELETE", path: "/admin/users/{userId}/links/{id}",
                      above: "userId", kind: "confirm", sensitive: true,
                      needs: "members:manage" } },
  },

  groups: {
    path: "/admin/groups", list: "groups", id: "id", one: true, needs: "groups:manage",
    label: ["name"], find: "q",
    columns: { name: "link", description: "text", memberCount: "number", appCount: "number",
               createdAt: "time" },
    facts: { memberCount: "number", appCount: "number", createdAt: "time", updatedAt: "time",
             id: "code" },
    form: {
      name: { kind: "text", max: 100, must: true },
      description: { kind: "lines", max: 500 },
    },
    create: "POST", change: "PUT", remove: "DELETE",
    acts: { remove: { method: "DELETE", path: "/admin/groups/{id}", kind: "confirm" } },
  },

  groupMembers: {
    path: "/admin/groups/{id}/members", list: "members", id: "userId", needs: "groups:manage",
    columns: { displayName: "link", email: "text", addedAt: "time" },
    instead: { displayName: "email" },
    add: { method: "POST", member: "userIds", type: "user" },
    takes: { method: "DELETE", path: "/admin/groups/{id}/members/{userId}" },
    set: { method: "PUT", path: "/admin/groups/{id}/members", body: { emails: "emails" } },
  },

  groupApps: {
    path: "/admin/groups/{id}/apps", list: "apps", id: "clientId", needs: "groups:manage",
    columns: { name: "text", clientId: "code", type: "word", addedAt: "time" },
    add: { method: "POST", member: "clientIds", type: "application" },
    takes: { method: "DELETE", path: "/admin/groups/{id}/apps/{clientId}" },
    set: { method: "PUT", path: "/admin/groups/{id}/apps", body: { clientIds: "clientIds" } },
  },

  invitations: {
    path: "/admin/invitations", list: "invitations", id: "id", one: true,
    needs: "members:manage", label: ["email"], find: "q",
    filters: { status: ["pending", "accepted", "expired", "revoked"] },
    tones: { status: { pending: "info", accepted: "good", expired: "warn", revoked: "off" } },
    columns: {
      email: "text", role: "text", groupIds: "count", status: "badge", invitedBy: "actor",
      createdAt: "time", expiresAt: "end",
    },
    facts: {
      status: "badge", role: "text", groupIds: "count", invitedBy: "actor", createdAt: "time",
      expiresAt: "end", id: "code",
    },
    form: {
      email: { kind: "email", max: 254, must: true },
      role: { kind: "text", max: 63, must: true, first: "member" },
      expiresInDays: { kind: "number", min: 1, max: 30, first: 7 },
    },
    leaves: ["groupIds"],
    create: "POST",
    rows: ["resend", "revoke"], many: ["resend", "revoke"],
    acts: {
      resend: { method: "POST", path: "/admin/invitations/{id}/resend", kind: "confirm",
                sensitive: true, secret: "inviteUrl", where: { status: ["pending", "expired"] } },
      revoke: { method: "DELETE", path: "/admin/invitations/{id}", kind: "confirm",
                where: { status: ["pending", "expired"] } },
    },
  },

  identities: {
    path: "/admin/identities", list: "identities", id: "id", needs: "users:view",
    label: ["name", "email"], find: "q", instead: { name: "email" },
    filters: {
      type: ["human", "service", "agent"],
      status: ["active", "suspended", "deactivated", "expired", "revoked", "disabled", "orphaned"],
    },
    tones: { status: { ...tones, expired: "warn", revoked: "off", disabled: "off",
                       orphaned: "bad" } },
    columns: {
      name: "link", type: "word", owner: "person", status: "badge", anomalies: "some",
      lastActiveAt: "used", expiresAt: "time",
    },
  },

  roles: {
    path: "/admin/roles", list: "roles", id: "key", one: true, needs: "roles:manage",
    label: ["name"],
    columns: { name: "link", key: "code", permissions: "list", memberCount: "number" },
    form: {
      name: { kind: "text", max: 100, must: true },
      key: { kind: "text", max: 63 },
      permissions: { kind: "checks", options: PERMISSIONS },
    },
    facts: { key: "code", permissions: "list", memberCount: "number" },
    create: "POST", change: "PUT", remove: "DELETE",
    acts: {
      remove: { method: "DELETE", path: "/admin/roles/{key}", kind: "confirm", sensitive: true },
    },
    members: {
      path: "/admin/members", list: "members", id: "userId", one: true, needs: "members:manage",
      find: "q", filters: { status: STATUS }, label: ["displayName", "email"],
      instead: { displayName: "email" }, tones: { status: tones },
      columns: { displayName: "link", email: "text", status: "badge", joinedAt: "time" },
      facts: { role: "text", email: "text", status: "badge", joinedAt: "time", userId: "code" },
    },
  },
};
