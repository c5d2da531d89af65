const columns = {
  name: "Name", status: "Status", clientId: "Client id", lastUsedAt: "Last token",
  createdAt: "Created", updatedAt: "Changed", secretRotatedAt: "Secret made",
};

export default {

  agents: {
    title: "Agents", one: "Agent", new: "New agent",
    note: "Press K on a row, then Enter, to stop an agent at once.",
    gone: "There is no such agent, or not any more.",
    empty: ["There is no agent yet.", "An AI agent is an application with somebody who answers for it, ceilings on what it may do, and a way to stop it at once."],
    killOne: "Kill {name}", killed: "{name} is off already.",
    columns: {
      ...columns, "identity.owner": "Owner", "review.status": "Review",
      policy: "Ceilings", anomalies: "Unusual", tokens: "Tokens", lastSeenAt: "Last",
      allowed: "Ceiling", reason: "Why", value: "What",
    },
    filters: { status: "Status", ownerId: "Owner" },
    options: {
      status: { active: "active", disabled: "off", expired: "expired", orphaned: "no owner" },
      "review.status": { never: "never reviewed", current: "reviewed", due: "review is due" },
      allowed: { true: "within", false: "above it" },
      reason: { disabled: "switched off", scope: "scope", audience: "audience" },
    },
    scopes: { one: "{n} scope", other: "{n} scopes" },
    audiences: { one: "{n} audience", other: "{n} audiences" },
    tabs: { one: "Agent", delegations: "Delegations", activity: "Activity" },
    application: "As an application",
    statuses: {
      active: "It gets tokens, within its ceilings.",
      disabled: "It gets no token, and all that it had have ended.",
      expired: "Its end is over: it gets no token until it has another one.",
      orphaned: "Nobody who is active answers for it. Give it an owner.",
    },
    unusual: { one: "{n} thing is unusual of it", other: "{n} things are unusual of it" },

    ceilings: "Ceilings",
    ceilingsNote: "The most that its tokens may have, whatever the application says. They count for tokens that are out already. The application's tokens live {ttl}.",
    fields: {
      maxTokenTtlSeconds: "A token lives at most", limitScopes: "Limit its scopes",
      allowedScopes: "Scopes", limitAudiences: "Limit whom its tokens are for",
      allowedAudiences: "Audiences", ownerId: "Owner", expiresAt: "End", note: "Note",
    },
    help: {
      maxTokenTtlSeconds: "1 minute to 24 hours. Nothing: as long as the application says.",
      allowedScopes: "None of them: it gets no scope at all.",
      allowedAudiences: "An address of an API each line, compared as a whole. Nothing: for nobody.",
      ownerId: "Somebody active, who answers for it.",
      expiresAt: "In your time. Nothing: it has no end.",
      note: "For the audit log.",
    },
    none: { maxTokenTtlSeconds: "no ceiling", allowedScopes: "no ceiling",
            allowedAudiences: "no ceiling", ownerId: "nobody", expiresAt: "none" },
    reviewIt: "Review …", applied: "{name} has other ceilings.",
    used: "What it has used in 30 days",
    unused: "It got no token in 30 days: there is nothing to compare with.",
    sample: { one: "Of {n} token of the last 30 days:", other: "Of {n} tokens of the last 30 days:" },
    sampleMost: "Of the newest {n} tokens of the last 30 days:",
    noAudience: "none was named: this server",
    usedScopes: "Scope", usedAudiences: "Audience",
    onlyUsed: "Fill in what it has used, and nothing else",
    reviewTitle: "What these ceilings would do",
    summary: { unchanged: "As they were", shortened: "Would have lived less long",
               refused: "Would have been refused" },
    tokens: { one: "{n} token", other: "{n} tokens" },
    live: "Live now", wouldDie: "{n} of {all} would die at once", narrow: "Would have less",
    why: "What would be refused", apply: "Apply",

    identity: "Who answers for it",
    review: "Review", due: "The next one is due on {time}.",
    attest: "I have looked: this is right", attested: "{name} is reviewed.",
    acts: {
      kill: { verb: "Kill", title: "Kill {name}?", done: "{name} is off. All its tokens have ended, and none comes back.",
              notes: ["All its tokens end, and none comes back. It gets no new ones until somebody switches it on again.",
                      "An API that verifies tokens without asking this server takes one until its time is over."] },
      revive: { verb: "Switch on", title: "Switch {name} on?", done: "{name} may get tokens again.",
                notes: ["It may get new tokens. Those that it had stay dead."] },
      reset: { verb: "No ceilings", title: "Take all ceilings from {name}?",
               done: "{name} has no ceilings any more.",
               notes: ["It may do all that its application may do. If it is off, it is switched on."] },
    },
  },

  settings: {
    title: "Settings of all agents",
    fields: {
      orphanAction: "An agent whose owner is gone", orphanGraceHours: "Grace",
      maxDelegationDepth: "Who may act one for another", reviewIntervalDays: "A review is due after",
    },
    units: { orphanGraceHours: "hours", maxDelegationDepth: "at most", reviewIntervalDays: "days" },
    options: { orphanAction: { none: "goes on", disable: "is stopped, after the grace" } },
    help: {
      orphanGraceHours: "Counted from when it last had an active owner.",
      maxDelegationDepth: "How many actors a chain may have, 1 to 5.",
    },
  },

  anomalies: {
    title: "Anomalies", one: "Anomaly",
    note: "What agents do not do usually. What happens again is counted in its row.",
    empty: ["Nothing is unusual.", "The server knows what each agent usually does; what is not like that stands here until somebody has looked."],
    columns: {
      agentName: "Agent", severity: "Severity", type: "What", description: "Known of it",
      "details.occurrences": "Times", "details.lastSeenAt": "Last",
      createdAt: "First", clientId: "Client id", id: "Id",
    },
    filters: { severity: "Severity", all: "Acknowledged, too" },
    options: {
      severity: { high: "high", medium: "medium", low: "low" },
      type: {
        token_burst: "Many tokens at once", new_ip: "Another network",
        new_country: "Another country", scope_denied: "Scopes above its ceiling",
        audience_denied: "An API above its ceiling", off_hours: "At an unusual hour",
        disabled_use: "Used though off", expired_use: "Used though expired",
        new_subject: "For somebody new", secret_reuse: "An old secret was used",
      },
    },
    ack: "Acknowledge", acked: { one: "{n} is acknowledged.", other: "{n} are acknowledged." },
    delegations: "Whom it acted for", details: "Details", seen: "Acknowledged",
  },
};
