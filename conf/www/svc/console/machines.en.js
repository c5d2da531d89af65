import permissions from "./permissions.en.js";

const token = {
  name: "Name", prefix: "Begins with", maker: "Whose", actsOnOwners: "Acts on owners",
  createdAt: "Made", createdBy: "Made by", lastUsedAt: "Last used", revokedAt: "Revoked",
  id: "Id",
};

export default {
  tokens: {
    title: "API tokens", one: "API token", new: "New token", made: "{name} is made",
    note: "With a token a program uses the admin API. What it may do is settled when it is created.",
    empty: ["There is no token yet.", "Make one for each program, with no more permissions than it needs."],
    secret: "The token",
    use: "Try it:",
    columns: { ...token, scopes: "Permissions", status: "Status", expiresAt: "Ends" },
    options: {
      status: { active: "active", expired: "expired", revoked: "revoked" },
      expiresInDays: { 30: "after 30 days", 90: "after 90 days", 365: "after a year" },
      scopes: permissions,
    },
    none: { expiresInDays: "never, until it is revoked" },
    fields: { name: "Name", scopes: "Permissions", expiresInDays: "It ends" },
    help: { name: "What it is for, so that others know who needs it." },
    notYours: "your own role does not have it",
    tabs: { one: "Token", activity: "Activity" },
    acts: {
      revoke: { verb: "Revoke", title: "Revoke {name}?", done: "{name} is revoked.",
                notes: ["What uses the token {prefix}… is refused from its next request on. It cannot be undone.",
                        "Last used: {lastUsedAt}. Permissions: {scopes}.",
                        "What it has made stays."] },
    },
  },

  scim: {
    title: "SCIM tokens", one: "SCIM token", new: "New token", made: "{name} is made",
    note: "With a SCIM token a directory such as Entra ID or Okta provisions users here.",
    empty: ["There is no token yet.", "Make one for each directory that is to provision users."],
    secret: "The token", baseUrl: "The address to provision to",
    columns: token,
    fields: { name: "Name" },
    help: { name: "Of the directory, for example. Without one it is called SCIM." },
    tabs: { one: "Token", activity: "Activity" },
    guides: [
      ["Microsoft Entra ID", [
        "Open the enterprise application, then Provisioning, and choose the mode Automatic.",
        "Under Admin Credentials the Tenant URL is {url}, and the Secret Token is the token above. Test the connection.",
        "Under Mappings switch groups off: users alone are provisioned.",
        "Map userName from an attribute that is an e-mail address, and externalId from objectId.",
        "Assign people to the application, and start provisioning.",
      ]],
      ["Okta", [
        "In the application switch SCIM provisioning on, and open Provisioning, Integration.",
        "The SCIM connector base URL is {url}; the unique identifier field is userName.",
        "Support Push New Users and Push Profile Updates; leave Push Groups off.",
        "The authentication mode is HTTP Header, with the token above.",
        "Under To App allow creating, updating and deactivating users, and assign people.",
      ]],
    ],
    acts: {
      revoke: { verb: "Revoke", title: "Revoke {name}?", done: "{name} is revoked.",
                notes: ["The directory that uses the token {prefix}… provisions nobody from its next request on, and deactivates nobody either. It cannot be undone.",
                        "Last used: {lastUsedAt}.",
                        "Those whom it has provisioned stay as they are."] },
    },
  },

  webhooks: {
    title: "Webhooks", one: "Webhook", new: "New webhook", made: "The webhook is made",
    note: "A webhook is told of what happens here, by a signed request to an address of yours.",
    empty: ["There is no webhook yet.", "Make one to tell a system of yours when people come, sign in or go."],
    secret: "The secret that signs deliveries",
    columns: { url: "Address", events: "Events", enabled: "State", createdAt: "Made", id: "Id" },
    options: {
      events: { "user.created": "user.created: somebody was provisioned, or has accepted an invitation",
                "user.login": "user.login: somebody has signed in",
                "user.deleted": "user.deleted: an account was erased" },
    },
    fields: { url: "Address", events: "Events", enabled: "Deliveries are sent" },
    help: { url: "It begins with https:// and is in a public network. Another address also gets what is pending.",
            enabled: "Off, what is pending is dropped, and what happens meanwhile is never sent." },
    tabs: { one: "Webhook", deliveries: "Deliveries", rotate: "New secret", activity: "Activity" },
    verify: "Verify each delivery before its body is parsed. In Python:", verifyNode: "In Node.js:",
    refresh: "Refresh",
    test: {
      title: "Send a sample", verb: "Send a sample", off: "Nothing is sent while it is off.",
      note: "A user.created of nobody, with \"test\": true.",
      waiting: "It was sent, and is being delivered …",
      still: "It has not been acknowledged within five seconds. The deliveries show what becomes of it.",
      none: "It is on its way. The deliveries will show it.",
      over: { acknowledged: "It was acknowledged.", abandoned: "It was given up.",
              refused: "It was not sent: its address is not allowed." },
    },
    rotate: {
      note: "The secret of a webhook stays as it is. A new one comes with a second webhook; nothing is missed meanwhile.",
      make: "Make a second webhook",
      makeNote: "It has the same address and events, and a secret of its own. From now on each event comes twice, with one id.",
      makeVerb: "Make it",
      both: "Let the endpoint take both secrets",
      bothNote: "A delivery is genuine if its signature is right with either of them.",
      test: "Send a sample with the new secret",
      remove: "Delete the old webhook",
      removeNote: "Then let the endpoint take the new secret alone.",
      removeVerb: "Delete the old one",
    },
    acts: {
      remove: { verb: "Delete", title: "Delete this webhook?", done: "The webhook is deleted.",
                notes: ["{name}", "What is pending is not sent, and nothing more is."] },
    },
  },

  deliveries: {
    empty: ["Nothing was delivered in the last week."],
    columns: { createdAt: "When", event: "Event", attempt: "Attempt", outcome: "Outcome",
               status: "Status", durationMs: "Time", error: "Error", id: "Delivery" },
    again: { verb: "Deliver again", done: "It is on its way. Receivers know it by its id." },
    options: {
      outcome: { acknowledged: "acknowledged", retried: "failed, comes again",
                 abandoned: "given up", refused: "not allowed" },
    },
  },
};
