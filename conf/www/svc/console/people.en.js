import bulk from "./bulk.en.js";
import permissions from "./permissions.en.js";

const person = {
  displayName: "Name", email: "E-mail address", role: "Role", status: "Status",
};

const status = { active: "active", suspended: "suspended", deactivated: "deactivated" };

export default {
  bulk,

  users: {
    title: "Users", one: "User", invite: "Invite people",
    empty: ["Nobody is here yet.", "Invite somebody, or let your identity provider provision people by SCIM."],
    kept: "An identity provider or a directory keeps these: what is changed here would be overwritten.",
    columns: {
      ...person, mfaEnrolled: "Second factor", lastLoginAt: "Last sign-in", locked: "Locked",
      source: "From", emailVerified: "Address verified", externalId: "External id",
      createdAt: "Created", id: "Id",
    },
    filters: { status: "Status", locked: "Locked", factor: "Second factor" },
    options: {
      status,
      locked: { true: "yes", false: "no" }, factor: { with: "with", without: "without" },
      source: { local: "Sign-up", invitation: "Invitation", scim: "SCIM", ldap: "Directory",
                saml: "SAML", social: "Identity provider" },
    },
    fields: {
      email: "E-mail address", displayName: "Name", firstName: "First name",
      lastName: "Last name", title: "Title", department: "Department", locale: "Language",
    },
    help: { email: "A new address ends all sessions; a mail tells the old one.",
            locale: "For example de, or fr-CH. It is the language of mails." },
    tabs: { one: "Profile", access: "Access", activity: "Activity" },
    acts: {
      resetLink: { off: "No mail goes out: the server has none set up.",
                   verb: "Mail a reset link", title: "Mail {name} a link to set a new password?",
                   done: "A link is on its way to {name}.",
                   notes: ["It is good for 30 minutes, and once. Nobody else sees it.",
                           "The password from before stays until another one is set."] },
      suspend: { verb: "Suspend", done: "{name} is suspended; all sessions have ended." },
      reactivate: { verb: "Reactivate", done: "{name} may sign in again. The old sessions do not come back." },
      unlock: { verb: "Unlock", title: "Unlock {name}?", done: "{name} may try again.",
                notes: ["Too many wrong passwords or codes have locked this account. The count of attempts begins anew."] },
      logout: { verb: "Sign out", title: "Sign {name} out?", done: "All sessions of {name} have ended.",
                notes: ["All sessions end, on every device. Passwords and second factors stay."] },
      resetMfa: { verb: "Reset factors", title: "Remove all second factors of {name}?",
                  done: "{name} has no second factor any more.",
                  notes: ["Passkeys, apps and recovery codes are removed, and all sessions end.",
                          "What another identity provider asks for stays as it is."] },
      takeRole: { verb: "Take the role away", title: "Take the role away from {name}?",
                  done: "{name} has no role any more.",
                  notes: ["{name} is {role} now, and a member then. All sessions end, on every device.",
                          "The account stays, with its groups and applications. What it made stays, too; tokens that it made can do no more than a member."] },
      remove: { verb: "Erase", title: "Erase {name}?", done: "{name} is erased.",
                notes: ["The account and all personal data are removed. It cannot be undone.",
                        "Entries of the audit log stay, by the id."] },
      role: { verb: "Give this role", done: "{name} has another role, from the next request on.",
              note: "Roles that allow more than yours cannot be given.",
              off: "{name} (takes {missing})" },
    },
  },

  userGroups: {
    title: "Groups", empty: "In no group.",
    columns: { name: "Group", connection: "By", addedAt: "Since" },
  },

  userSessions: {
    title: "Sessions", empty: "Not signed in anywhere.",
    columns: { userAgent: "Browser", methods: "Shown", ip: "Address", country: "Country",
               createdAt: "Signed in", lastSeenAt: "Last seen" },
    acts: { end: { verb: "End", title: "End this session?", done: "The session has ended.",
                   notes: ["It is over from the next request on. Other sessions stay."] } },
  },

  userFactors: {
    title: "Second factors", empty: "None.",
    codes: { one: "{n} recovery code is left.", other: "{n} recovery codes are left." },
    columns: { name: "Name", type: "What", confirmed: "Confirmed", createdAt: "Added",
               lastUsedAt: "Last used" },
    options: { type: { totp: "Authenticator app", passkey: "Passkey", email: "Codes by mail" } },
  },

  userLinks: {
    title: "Linked identities", empty: "None.",
    columns: { connection: "Connection", email: "Address there", linkedAt: "Linked",
               lastAt: "Last sign-in" },
    acts: { unlink: { verb: "Remove", title: "Remove the link to {name}?", done: "The link is removed.",
                      notes: ["Nobody signs in by it any more, and sessions that began by it end.",
                              "It may be the user's only way in."] } },
  },

  groups: {
    title: "Groups", one: "Group", new: "New group", made: "{name} is made.",
    empty: ["There is no group yet.", "Groups say who may use an application, and may have a password policy of their own."],
    columns: { name: "Name", description: "Description", memberCount: "Members",
               appCount: "Applications", createdAt: "Created", updatedAt: "Changed", id: "Id" },
    fields: { name: "Name", description: "Description" },
    tabs: { one: "Group", members: "Members", apps: "Applications", activity: "Activity" },
    acts: {
      remove: { verb: "Delete", title: "Delete {name}?", done: "{name} is deleted.",
                notes: ["Its members stay; they lose what the group alone gave them.",
                        "Its password policy is deleted with it."] },
    },
  },

  groupMembers: {
    add: "Add a member", take: "Remove", taken: "{name} is not in the group any more.",
    empty: ["Nobody is in it yet.", "Find people by their name or address above."],
    changeAll: "Paste addresses …", paste: "Add members to {name}",
    fields: { emails: "Addresses", only: "Everybody else leaves the group" },
    help: {
      emails: "One a line, or separated by commas. Names around them do no harm: Ada <ada@example.com>.",
      only: "Only for up to 1,000 addresses, and if somebody here has each of them.",
    },
    counted: { one: "{n} address", other: "{n} addresses" },
    others: { one: "{n} part is no address.", other: "{n} parts are no addresses." },
    underWay: "{n} of {total} are sent …",
    added: { one: "{n} person is added.", other: "{n} people are added." },
    there: { one: "{n} was in the group already.", other: "{n} were in the group already." },
    replaced: {
      one: "The group has this one member now.",
      other: "The group has these {n} members now.",
    },
    unknown: {
      one: "Nobody here has this address:",
      other: "Nobody here has these {n} addresses:",
    },
    noAddress: "There is no address in it.",
    tooMany: "These are {n}; {most} at most can take the place of all.",
    replace: {
      one: "Leave {n} person in the group, and nobody else?",
      other: "Leave {n} people in the group, and nobody else?",
    },
    replaceNote: "Whoever is not among them loses what the group gives, at once.",
    replaceVerb: "Replace",
    columns: { displayName: "Name", email: "E-mail address", addedAt: "Added" },
  },

  groupApps: {
    add: "Add an application", take: "Remove", taken: "{name} is not given to the group any more.",
    empty: ["The group has no application yet."],
    changeAll: "Choose all …", choose: "Applications of {name}",
    fields: { clientIds: "Applications" },
    help: { clientIds: "What is taken away here is open to nobody by this group any more." },
    tooMany: "There are more than {most}: add and remove them one by one.",
    columns: { name: "Name", clientId: "Client id", type: "Type", addedAt: "Added" },
    options: { type: { web: "Web", spa: "Browser", native: "Native", m2m: "Machine", agent: "Agent" } },
  },

  invitations: {
    title: "Invitations", one: "Invitation", new: "Invite people",
    empty: ["Nobody has been invited yet.", "Whoever is invited makes an account with a link that works for some days."],
    columns: {
      email: "E-mail address", role: "Role", groupIds: "Groups", status: "Status",
      invitedBy: "By", createdAt: "Invited", expiresAt: "Link ends", outcome: "Outcome",
      why: "Why", inviteUrl: "Link", id: "Id",
    },
    filters: { status: "Status" },
    options: {
      status: { pending: "pending", accepted: "accepted", expired: "expired", revoked: "revoked" },
      outcome: { waiting: "waiting", invited: "invited", again: "invited before", refused: "refused" },
    },
    fields: { emails: "E-mail addresses", role: "Role", groupIds: "Groups",
              expiresInDays: "The links work for" },
    units: { expiresInDays: "days" },
    help: {
      emails: "One a line, 50 at most.",
      groupIds: "Those invited are in these groups from the start.",
      role: "The key of a role, such as member or admin. You cannot give one that allows more than yours.",
      roles: "Roles that allow more than yours cannot be given.",
    },
    groupsNeed: "To put them in groups takes the permission {permission}.",
    tooMany: "These are {n}; 50 at most can be invited at once.",
    invite: "Invite",
    results: "Who was invited",
    underWay: "{n} of {total} are done …",
    over: { one: "{n} of {total} is invited.", other: "{n} of {total} are invited." },
    links: "Links are shown only once. Where mail is set up, they have been mailed, too; otherwise pass each one on yourself.",
    lost: "It was created, but the answer with its link was lost: send it again from the list.",
    leave: "Not all are invited yet", stop: "Stop inviting",
    copyAll: "Copy all links", retry: "Try the refused ones again", more: "Invite more", back: "To the list",
    acts: {
      resend: { verb: "Send again", title: "Send {name} another link?", done: "{name} has another link.",
                secret: "The new link", notes: [
                  "The earlier link no longer works; the new one works for as long as that one did.",
                  "Where mail is set up, it is mailed. It is also shown to you, once.",
                ] },
      revoke: { verb: "Revoke", title: "Revoke the invitation of {name}?",
                done: "The invitation of {name} is revoked.",
                notes: ["Its link no longer works. The address may be invited again."] },
    },
  },

  identities: {
    title: "Identities", one: "Identity",
    note: "Everybody and everything that can act here: people, services and AI agents.",
    empty: "Nobody is here yet.",
    columns: { name: "Name", type: "What", owner: "Who answers for it", status: "Status",
               anomalies: "Anomalies", lastActiveAt: "Last active", expiresAt: "Ends" },
    filters: { type: "What", status: "Status" },
    options: {
      type: { human: "Person", service: "Service", agent: "AI agent" },
      status: { ...status, expired: "expired", revoked: "revoked", disabled: "off",
                orphaned: "nobody answers for it" },
    },
  },

  roles: {
    title: "Roles", one: "Role", new: "New role", made: "{name} is made.",
    own: "Of this tenant", system: "Of the system", members: "Who has it",
    empty: "There is none yet. A role is a set of permissions that people are given together.",
    nobody: ["Nobody has it."],
    gone: "There is no such role, or not any more.",
    notYours: "your own role does not have it",
    columns: { name: "Name", key: "Key", permissions: "Permissions", memberCount: "Members",
               ...person, joinedAt: "Joined", userId: "Id" },
    filters: { status: "Status" },
    fields: { name: "Name", key: "Key", permissions: "Permissions" },
    help: { key: "A short name for scripts, such as helpdesk. It stays as it is; without one it is made from the name." },
    options: { permissions, status },
    acts: {
      remove: { verb: "Delete", title: "Delete {name}?", done: "{name} is deleted.",
                notes: ["A role that somebody has cannot be deleted: give them another one first."] },
    },
  },
};
