export default {
  overview: {
    title: "Overview",
    period: "Period",
    days: { one: "{n} day", other: "{n} days" },

    trouble: {
      title: "Needs attention",
      none: "Nothing needs your attention",
      states: { open: "open", failing: "failing", held: "held", failed: "failed" },
      of: { incidents: "Incidents", anomalies: "Anomalies", targets: "SCIM targets", deliveries: "Webhooks" },
      incidents: { one: "{n} incident that nobody has acknowledged", other: "{n} incidents that nobody has acknowledged" },
      anomalies: { one: "{n} anomaly of agents that nobody has acknowledged", other: "{n} anomalies of agents that nobody has acknowledged" },
      targets: { failing: "{name} refuses all that SCIM sends it", held: "{name} would lose many users: confirm it, or not" },
      deliveries: "{name} did not accept a webhook within the last 24 hours",
    },

    signIns: {
      title: "Sign-ins", success: "Succeeded", failure: "Failed", denied: "Denied", lockouts: "Accounts locked",
      rateLimited: "Slowed down", mfa: "Users with a second factor", mfaOf: "{n} of {all}",
      factor: "second factor", by: { blocked: "blocked address", policy: "policy", risk: "risk" },
      none: "Nobody has tried to sign in on these days.",
    },

    users: {
      title: "Users", total: "Total", fresh: "New", active: "Signed in",
      activeIn: { one: "Signed in today", other: "Signed in within {n} days" },
      pending: { one: "{n} invitation is pending", other: "{n} invitations are pending" },
      nobody: "No invitation is pending.", none: "Nobody has signed in on these days.",
    },

    chart: { utc: "UTC days", table: "As a table", day: "Day" },

    steps: {
      title: "First steps", show: "First steps", hide: "Hide",
      count: "{n} of {all} are done.", whole: "All of them are done.",
      states: { done: "done", todo: "to do", unknown: "not known" },
      of: {
        factor: { title: "Add a second factor of your own", note: "A passkey, or an app with codes: a password alone does not protect an administrator." },
        owner: { title: "Invite a second owner", note: "So that somebody can help when one of you is locked out." },
        invited: { title: "Invite somebody", note: "They set their own password by a link." },
        logo: { title: "Upload your logo", note: "People know by it that the page of sign-in is yours." },
        mail: { title: "Mails are sent", note: "Forgotten passwords and codes need them. The server's operator sets this up, with svc_mail." },
        policy: { title: "Decide who may come in, and from where", note: "By rules for networks, countries and hours, or by the risk of a sign-in." },
        application: { title: "Connect an application", note: "What your people sign in to, by OpenID Connect." },
        connected: { title: "Connect a directory or a webhook", note: "A directory provisions users by SCIM; a webhook learns what happens here." },
        domain: { title: "Verify a domain", note: "Then it is known which addresses are yours." },
      },
    },
  },
};
