const columns = {
  createdAt: "When", action: "What", actor: "Who", target: "About", ip: "Address",
  outcome: "Outcome", country: "Country", userAgent: "Browser", requestId: "Request", id: "Id",
};

export default {
  audit: {
    title: "Audit", note: "What was done here, and by whom, the newest first.",
    columns, filters: { outcome: "Outcome", action: "What", actorId: "Id of who", from: "From", to: "Until" },
    options: { outcome: { success: "success", failure: "failure" } },
    empty: ["Nothing is in the log."],
    details: "Details", export: "Export", sameActor: "All of the same actor",
    sameTarget: "All about the same",
  },

  incidents: {
    title: "Incidents", one: "Incident",
    note: "What looks like an attack, or needs somebody. Whoever has looked after one acknowledges it.",
    columns: { createdAt: "When", severity: "Severity", title: "What", status: "Status",
               acknowledgedBy: "By" },
    filters: { all: "Show" },
    options: { all: { false: "open ones", true: "acknowledged ones, too" }, severity: { high: "high", medium: "medium" },
               status: { open: "open", acknowledged: "acknowledged" } },
    empty: ["There is nothing to look after."],
    block: "Block this address",
    todo: {
      credential_stuffing: "One address tries many accounts: block it, and let the risk policy ask for a second factor.",
      account_lockouts: "Many accounts are locked: look in the audit log for what they have in common.",
      mfa_guessing: "Somebody who has a password guesses a code: have the user set another password.",
      risk_denied: "A sign-in was too unusual: ask the user whether it was theirs.",
      impossible_travel: "Two sign-ins were too far apart: ask the user, and sign them out if in doubt.",
      passkey_cloned: "A passkey has counted backwards: have the user remove it and add another one.",
      ldap_ambiguous: "The directory has two people for one name: mend its filter, or the entries.",
      ldap_sync_held: "An import would remove many people: look at the directory before you let it.",
      scim_target_held: "A target would lose many users: look at what was unassigned before you confirm.",
      token_maker_lost: "Whoever made a token has left: make another one, and revoke this one.",
    },
    acts: { ack: { verb: "Acknowledge", title: "Acknowledge this?", done: "It is acknowledged.",
                   notes: ["It leaves the list of what is open. It stays in the audit log."] } },
  },
};
