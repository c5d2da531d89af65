const columns = {
  name: "Name", status: "Status", clientId: "Client-ID", lastUsedAt: "Letztes Token",
  createdAt: "Angelegt", updatedAt: "Geändert", secretRotatedAt: "Geheimnis erzeugt",
};

export default {

  agents: {
    title: "Agenten", one: "Agent", new: "Neuer Agent",
    note: "Drücken Sie K in einer Zeile, dann Enter, um einen Agenten sofort zu stoppen.",
    gone: "Diesen Agenten gibt es nicht, oder nicht mehr.",
    empty: ["Es gibt noch keinen Agenten.", "Ein KI-Agent ist eine Anwendung, für die jemand einsteht, mit Obergrenzen für das, was sie darf, und einem Weg, sie sofort zu stoppen."],
    killOne: "{name} stoppen", killed: "{name} ist schon abgeschaltet.",
    columns: {
      ...columns, "identity.owner": "Verantwortlich", "review.status": "Prüfung",
      policy: "Obergrenzen", anomalies: "Auffällig", tokens: "Token", lastSeenAt: "Zuletzt",
      allowed: "Obergrenze", reason: "Warum", value: "Was",
    },
    filters: { status: "Status", ownerId: "Verantwortlich" },
    options: {
      status: { active: "aktiv", disabled: "abgeschaltet", expired: "abgelaufen", orphaned: "niemand verantwortlich" },
      "review.status": { never: "nie geprüft", current: "geprüft", due: "Prüfung fällig" },
      allowed: { true: "innerhalb", false: "darüber" },
      reason: { disabled: "abgeschaltet", scope: "Scope", audience: "Audience" },
    },
    scopes: { one: "{n} Scope", other: "{n} Scopes" },
    audiences: { one: "{n} Audience", other: "{n} Audiences" },
    tabs: { one: "Agent", delegations: "Delegationen", activity: "Aktivität" },
    application: "Als Anwendung",
    statuses: {
      active: "Er bekommt Token, innerhalb seiner Obergrenzen.",
      disabled: "Er bekommt kein Token, und alle, die er hatte, sind beendet.",
      expired: "Seine Frist ist abgelaufen: Er bekommt kein Token, bis er eine andere hat.",
      orphaned: "Niemand Aktives steht für ihn ein. Geben Sie ihm einen Verantwortlichen.",
    },
    unusual: { one: "{n} Auffälligkeit bei ihm", other: "{n} Auffälligkeiten bei ihm" },

    ceilings: "Obergrenzen",
    ceilingsNote: "Das Äußerste, was seine Token haben dürfen, was auch immer die Anwendung sagt. Es gilt auch für schon ausgegebene Token. Die Token der Anwendung leben {ttl}.",
    fields: {
      maxTokenTtlSeconds: "Ein Token lebt höchstens", limitScopes: "Seine Scopes begrenzen",
      allowedScopes: "Scopes", limitAudiences: "Begrenzen, für wen seine Token sind",
      allowedAudiences: "Audiences", ownerId: "Verantwortlich", expiresAt: "Frist", note: "Notiz",
    },
    help: {
      maxTokenTtlSeconds: "1 Minute bis 24 Stunden. Leer: so lange, wie die Anwendung sagt.",
      allowedScopes: "Keiner: Er bekommt gar keinen Scope.",
      allowedAudiences: "Die Adresse einer API je Zeile, als Ganzes verglichen. Leer: für niemanden.",
      ownerId: "Jemand Aktives, der für ihn einsteht.",
      expiresAt: "In Ihrer Zeit. Leer: ohne Frist.",
      note: "Für das Audit-Protokoll.",
    },
    none: { maxTokenTtlSeconds: "keine Obergrenze", allowedScopes: "keine Obergrenze",
            allowedAudiences: "keine Obergrenze", ownerId: "niemand", expiresAt: "keine" },
    reviewIt: "Prüfen …", applied: "{name} hat andere Obergrenzen.",
    used: "Was er in 30 Tagen benutzt hat",
    unused: "Er bekam in 30 Tagen kein Token: Es gibt nichts zu vergleichen.",
    sample: { one: "Von {n} Token der letzten 30 Tage:", other: "Von {n} Token der letzten 30 Tage:" },
    sampleMost: "Von den neuesten {n} Token der letzten 30 Tage:",
    noAudience: "keine genannt: dieser Server",
    usedScopes: "Scope", usedAudiences: "Audience",
    onlyUsed: "Eintragen, was er benutzt hat, und sonst nichts",
    reviewTitle: "Was diese Obergrenzen bewirken würden",
    summary: { unchanged: "Wie bisher", shortened: "Hätten kürzer gelebt",
               refused: "Wären verweigert worden" },
    tokens: "{n} Token",
    live: "Jetzt gültig", wouldDie: "{n} von {all} würden sofort ungültig", narrow: "Hätten weniger",
    why: "Was verweigert würde", apply: "Anwenden",

    identity: "Wer für ihn einsteht",
    review: "Prüfung", due: "Die nächste ist am {time} fällig.",
    attest: "Ich habe geprüft: Es stimmt so", attested: "{name} ist geprüft.",
    acts: {
      kill: { verb: "Stoppen", title: "{name} stoppen?", done: "{name} ist gestoppt. Alle seine Token sind beendet, und keines wird wieder gültig.",
              notes: ["Alle seine Token werden beendet, und keines wird wieder gültig. Er bekommt keine neuen, bis jemand ihn wieder einschaltet.",
                      "Eine API, die Token prüft, ohne diesen Server zu fragen, nimmt eines an, bis es abläuft."] },
      revive: { verb: "Einschalten", title: "{name} einschalten?", done: "{name} kann wieder Token bekommen.",
                notes: ["Er kann neue Token bekommen. Die alten werden nicht wieder gültig."] },
      reset: { verb: "Ohne Obergrenzen", title: "{name} alle Obergrenzen nehmen?",
               done: "{name} hat keine Obergrenzen mehr.",
               notes: ["Er darf alles, was seine Anwendung darf. Ist er abgeschaltet, wird er eingeschaltet."] },
    },
  },

  settings: {
    title: "Einstellungen aller Agenten",
    fields: {
      orphanAction: "Ein Agent ohne Verantwortlichen", orphanGraceHours: "Schonfrist",
      maxDelegationDepth: "Wer füreinander handeln darf", reviewIntervalDays: "Eine Prüfung ist fällig nach",
    },
    units: { orphanGraceHours: "Stunden", maxDelegationDepth: "höchstens", reviewIntervalDays: "Tagen" },
    options: { orphanAction: { none: "läuft weiter", disable: "wird nach der Schonfrist gestoppt" } },
    help: {
      orphanGraceHours: "Gezählt, seit er zuletzt einen aktiven Verantwortlichen hatte.",
      maxDelegationDepth: "Wie viele Akteure eine Kette haben darf, 1 bis 5.",
    },
  },

  anomalies: {
    title: "Auffälligkeiten", one: "Auffälligkeit",
    note: "Was Agenten sonst nicht tun. Was sich wiederholt, wird in seiner Zeile gezählt.",
    empty: ["Nichts ist auffällig.", "Der Server weiß, was jeder Agent sonst tut; was davon abweicht, steht hier, bis jemand es gesehen hat."],
    columns: {
      agentName: "Agent", severity: "Schwere", type: "Was", description: "Was bekannt ist",
      "details.occurrences": "Wie oft", "details.lastSeenAt": "Zuletzt",
      createdAt: "Zuerst", clientId: "Client-Id", id: "Id",
    },
    filters: { severity: "Schwere", all: "Auch abgehakte" },
    options: {
      severity: { high: "hoch", medium: "mittel", low: "niedrig" },
      type: {
        token_burst: "Viele Token auf einmal", new_ip: "Ein anderes Netz",
        new_country: "Ein anderes Land", scope_denied: "Scopes über seiner Obergrenze",
        audience_denied: "Eine API über seiner Obergrenze", off_hours: "Zu ungewohnter Stunde",
        disabled_use: "Benutzt, obwohl abgeschaltet", expired_use: "Benutzt, obwohl abgelaufen",
        new_subject: "Für jemand Neues", secret_reuse: "Ein altes Geheimnis wurde benutzt",
      },
    },
    ack: "Abhaken", acked: { one: "{n} ist abgehakt.", other: "{n} sind abgehakt." },
    delegations: "Für wen er gehandelt hat", details: "Einzelheiten", seen: "Abgehakt",
  },
};
