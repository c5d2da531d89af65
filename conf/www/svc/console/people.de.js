import bulk from "./bulk.de.js";
import permissions from "./permissions.de.js";

const person = {
  displayName: "Name", email: "E-Mail-Adresse", role: "Rolle", status: "Status",
};

const status = { active: "aktiv", suspended: "gesperrt", deactivated: "deaktiviert" };

export default {
  bulk,

  users: {
    title: "Benutzer", one: "Benutzer", invite: "Personen einladen",
    empty: ["Hier ist noch niemand.",
            "Laden Sie jemanden ein, oder lassen Sie Ihren Identitätsanbieter Benutzer per SCIM bereitstellen."],
    kept: "Ein Identitätsanbieter oder ein Verzeichnis führt diese Angaben: Was hier geändert wird, würde überschrieben.",
    columns: {
      ...person, mfaEnrolled: "Zweiter Faktor", lastLoginAt: "Letzte Anmeldung", locked: "Blockiert",
      source: "Herkunft", emailVerified: "Adresse bestätigt", externalId: "Externe ID",
      createdAt: "Angelegt", id: "ID",
    },
    filters: { status: "Status", locked: "Blockiert", factor: "Zweiter Faktor" },
    options: {
      status,
      locked: { true: "ja", false: "nein" }, factor: { with: "mit", without: "ohne" },
      source: { local: "Registrierung", invitation: "Einladung", scim: "SCIM", ldap: "Verzeichnis",
                saml: "SAML", social: "Identitätsanbieter" },
    },
    fields: {
      email: "E-Mail-Adresse", displayName: "Name", firstName: "Vorname",
      lastName: "Nachname", title: "Position", department: "Abteilung", locale: "Sprache",
    },
    help: { email: "Eine neue Adresse beendet alle Sitzungen; die alte erfährt es per Mail.",
            locale: "Zum Beispiel de, oder fr-CH. In dieser Sprache kommen Mails." },
    tabs: { one: "Profil", access: "Zugang", activity: "Aktivität" },
    acts: {
      resetLink: { off: "Es gehen keine Mails hinaus: Der Server hat keinen Mailversand eingerichtet.",
                   verb: "Link senden", title: "{name} einen Link für ein neues Passwort senden?",
                   done: "Ein Link an {name} ist unterwegs.",
                   notes: ["Er gilt 30 Minuten und einmal. Niemand sonst sieht ihn.",
                           "Das alte Passwort gilt, bis ein neues gesetzt ist."] },
      suspend: { verb: "Sperren", done: "{name} ist gesperrt; alle Sitzungen sind beendet." },
      reactivate: { verb: "Reaktivieren",
                    done: "{name} kann sich wieder anmelden. Die alten Sitzungen kommen nicht zurück." },
      unlock: { verb: "Freigeben", title: "{name} freigeben?", done: "{name} kann es wieder versuchen.",
                notes: ["Zu viele falsche Passwörter oder Codes haben dieses Konto blockiert. Die Zählung der Versuche beginnt neu."] },
      logout: { verb: "Abmelden", title: "{name} abmelden?", done: "Alle Sitzungen von {name} sind beendet.",
                notes: ["Alle Sitzungen enden, auf jedem Gerät. Passwörter und zweite Faktoren bleiben."] },
      resetMfa: { verb: "Faktoren entfernen", title: "Alle zweiten Faktoren von {name} entfernen?",
                  done: "{name} hat keinen zweiten Faktor mehr.",
                  notes: ["Passkeys, Apps und Wiederherstellungscodes werden entfernt, und alle Sitzungen enden.",
                          "Was ein anderer Identitätsanbieter verlangt, bleibt, wie es ist."] },
      takeRole: { verb: "Rolle entziehen", title: "{name} die Rolle entziehen?",
                  done: "{name} hat keine Rolle mehr.",
                  notes: ["{name} hat jetzt die Rolle {role}, und dann die eines Mitglieds. Alle Sitzungen enden, auf jedem Gerät.",
                          "Das Konto bleibt, mit seinen Gruppen und Anwendungen. Was es angelegt hat, bleibt auch; seine Tokens können nicht mehr als ein Mitglied."] },
      remove: { verb: "Löschen", title: "{name} löschen?", done: "{name} ist gelöscht.",
                notes: ["Das Konto und alle persönlichen Daten werden gelöscht. Das lässt sich nicht rückgängig machen.",
                        "Einträge im Audit-Protokoll bleiben, mit der ID."] },
      role: { verb: "Rolle geben", done: "{name} hat ab der nächsten Anfrage eine andere Rolle.",
              note: "Rollen, die mehr erlauben als Ihre, lassen sich nicht vergeben.",
              off: "{name} (verlangt {missing})" },
    },
  },

  userGroups: {
    title: "Gruppen", empty: "In keiner Gruppe.",
    columns: { name: "Gruppe", connection: "Durch", addedAt: "Seit" },
  },

  userSessions: {
    title: "Sitzungen", empty: "Nirgends angemeldet.",
    columns: { userAgent: "Browser", methods: "Nachweise", ip: "Adresse", country: "Land",
               createdAt: "Angemeldet", lastSeenAt: "Zuletzt gesehen" },
    acts: { end: { verb: "Beenden", title: "Diese Sitzung beenden?", done: "Die Sitzung ist beendet.",
                   notes: ["Sie endet mit der nächsten Anfrage. Andere Sitzungen bleiben."] } },
  },

  userFactors: {
    title: "Zweite Faktoren", empty: "Keine.",
    codes: { one: "{n} Wiederherstellungscode ist übrig.", other: "{n} Wiederherstellungscodes sind übrig." },
    columns: { name: "Name", type: "Was", confirmed: "Bestätigt", createdAt: "Hinzugefügt",
               lastUsedAt: "Zuletzt benutzt" },
    options: { type: { totp: "Authenticator-App", passkey: "Passkey", email: "Codes per E-Mail" } },
  },

  userLinks: {
    title: "Verknüpfte Identitäten", empty: "Keine.",
    columns: { connection: "Verbindung", email: "Adresse dort", linkedAt: "Verknüpft",
               lastAt: "Letzte Anmeldung" },
    acts: { unlink: { verb: "Entfernen", title: "Die Verknüpfung mit {name} entfernen?", done: "Die Verknüpfung ist entfernt.",
                      notes: ["Niemand meldet sich mehr über sie an, und Sitzungen, die mit ihr begannen, enden.",
                              "Sie ist vielleicht der einzige Zugang des Benutzers."] } },
  },

  groups: {
    title: "Gruppen", one: "Gruppe", new: "Neue Gruppe", made: "{name} ist angelegt.",
    empty: ["Es gibt noch keine Gruppe.",
            "Gruppen sagen, wer eine Anwendung benutzen darf, und können eine eigene Passwortrichtlinie haben."],
    columns: { name: "Name", description: "Beschreibung", memberCount: "Mitglieder",
               appCount: "Anwendungen", createdAt: "Angelegt", updatedAt: "Geändert", id: "ID" },
    fields: { name: "Name", description: "Beschreibung" },
    tabs: { one: "Gruppe", members: "Mitglieder", apps: "Anwendungen", activity: "Aktivität" },
    acts: {
      remove: { verb: "Löschen", title: "{name} löschen?", done: "{name} ist gelöscht.",
                notes: ["Ihre Mitglieder bleiben; sie verlieren, was nur die Gruppe ihnen gab.",
                        "Ihre Passwortrichtlinie wird mit ihr gelöscht."] },
    },
  },

  groupMembers: {
    add: "Mitglied hinzufügen", take: "Entfernen", taken: "{name} ist nicht mehr in der Gruppe.",
    empty: ["Hier ist noch niemand.", "Suchen Sie oben nach Namen oder Adressen."],
    changeAll: "Adressen einfügen …", paste: "Mitglieder zu {name} hinzufügen",
    fields: { emails: "Adressen", only: "Alle anderen verlassen die Gruppe" },
    help: {
      emails: "Eine je Zeile, oder durch Kommas getrennt. Namen daneben stören nicht: Ada <ada@example.com>.",
      only: "Nur für höchstens 1.000 Adressen, und wenn jede davon hier jemand hat.",
    },
    counted: { one: "{n} Adresse", other: "{n} Adressen" },
    others: { one: "{n} Teil ist keine Adresse.", other: "{n} Teile sind keine Adressen." },
    underWay: "{n} von {total} sind gesendet …",
    added: { one: "{n} Person ist hinzugefügt.", other: "{n} Personen sind hinzugefügt." },
    there: { one: "{n} war schon in der Gruppe.", other: "{n} waren schon in der Gruppe." },
    replaced: {
      one: "Die Gruppe hat jetzt dieses eine Mitglied.",
      other: "Die Gruppe hat jetzt diese {n} Mitglieder.",
    },
    unknown: {
      one: "Diese Adresse hat hier niemand:",
      other: "Diese {n} Adressen hat hier niemand:",
    },
    noAddress: "Darin ist keine Adresse.",
    tooMany: "Das sind {n}; höchstens {most} können an die Stelle aller treten.",
    replace: {
      one: "{n} Person in der Gruppe lassen, und sonst niemanden?",
      other: "{n} Personen in der Gruppe lassen, und sonst niemanden?",
    },
    replaceNote: "Wer nicht darunter ist, verliert sofort, was die Gruppe gibt.",
    replaceVerb: "Ersetzen",
    columns: { displayName: "Name", email: "E-Mail-Adresse", addedAt: "Hinzugefügt" },
  },

  groupApps: {
    add: "Anwendung hinzufügen", take: "Entfernen", taken: "{name} ist der Gruppe nicht mehr zugewiesen.",
    empty: ["Die Gruppe hat noch keine Anwendung."],
    changeAll: "Alle auswählen …", choose: "Anwendungen von {name}",
    fields: { clientIds: "Anwendungen" },
    help: { clientIds: "Was hier wegfällt, steht durch diese Gruppe niemandem mehr offen." },
    tooMany: "Es sind mehr als {most}: Fügen Sie sie einzeln hinzu, und entfernen Sie sie einzeln.",
    columns: { name: "Name", clientId: "Client-ID", type: "Typ", addedAt: "Hinzugefügt" },
    options: { type: { web: "Web", spa: "Browser", native: "Nativ", m2m: "Maschine", agent: "Agent" } },
  },

  invitations: {
    title: "Einladungen", one: "Einladung", new: "Personen einladen",
    empty: ["Noch niemand wurde eingeladen.",
            "Wer eingeladen ist, legt sein Konto mit einem Link an, der einige Tage gilt."],
    columns: {
      email: "E-Mail-Adresse", role: "Rolle", groupIds: "Gruppen", status: "Status",
      invitedBy: "Von", createdAt: "Eingeladen", expiresAt: "Link endet", outcome: "Ergebnis",
      why: "Warum", inviteUrl: "Link", id: "Id",
    },
    filters: { status: "Status" },
    options: {
      status: { pending: "ausstehend", accepted: "angenommen", expired: "abgelaufen", revoked: "widerrufen" },
      outcome: { waiting: "wartet", invited: "eingeladen", again: "schon eingeladen", refused: "abgelehnt" },
    },
    fields: { emails: "E-Mail-Adressen", role: "Rolle", groupIds: "Gruppen",
              expiresInDays: "Gültigkeit der Links" },
    units: { expiresInDays: "Tage" },
    help: {
      emails: "Eine je Zeile, höchstens 50.",
      groupIds: "Die Eingeladenen sind von Anfang an in diesen Gruppen.",
      role: "Der Schlüssel einer Rolle, etwa member oder admin. Eine, die mehr erlaubt als Ihre, können Sie nicht vergeben.",
      roles: "Rollen, die mehr erlauben als Ihre, lassen sich nicht vergeben.",
    },
    groupsNeed: "Um sie in Gruppen aufzunehmen, braucht es die Berechtigung {permission}.",
    tooMany: "Das sind {n}; höchstens 50 lassen sich auf einmal einladen.",
    invite: "Einladen",
    results: "Wer eingeladen wurde",
    underWay: "{n} von {total} sind erledigt …",
    over: { one: "{n} von {total} ist eingeladen.", other: "{n} von {total} sind eingeladen." },
    links: "Links werden nur einmal gezeigt. Ist der Mailversand eingerichtet, wurden sie auch gemailt; sonst geben Sie jeden selbst weiter.",
    lost: "Sie wurde angelegt, aber die Antwort mit ihrem Link ging verloren: Senden Sie sie aus der Liste noch einmal.",
    leave: "Noch sind nicht alle eingeladen", stop: "Nicht weiter einladen",
    copyAll: "Alle Links kopieren", retry: "Abgelehnte wiederholen", more: "Weitere einladen",
    back: "Zur Liste",
    acts: {
      resend: { verb: "Erneut senden", title: "{name} einen neuen Link senden?",
                done: "{name} hat einen neuen Link.",
                secret: "Der neue Link", notes: [
                  "Der frühere Link gilt nicht mehr; der neue gilt so lange, wie jener galt.",
                  "Ist der Mailversand eingerichtet, wird er gemailt. Er wird auch Ihnen gezeigt, einmal.",
                ] },
      revoke: { verb: "Widerrufen", title: "Die Einladung von {name} widerrufen?",
                done: "Die Einladung von {name} ist widerrufen.",
                notes: ["Ihr Link gilt nicht mehr. Die Adresse kann wieder eingeladen werden."] },
    },
  },

  identities: {
    title: "Identitäten", one: "Identität",
    note: "Alle, die hier etwas tun können: Personen, Dienste und KI-Agenten.",
    empty: "Hier ist noch niemand.",
    columns: { name: "Name", type: "Art", owner: "Verantwortlich", status: "Status",
               anomalies: "Auffälligkeiten", lastActiveAt: "Zuletzt aktiv", expiresAt: "Endet" },
    filters: { type: "Art", status: "Status" },
    options: {
      type: { human: "Person", service: "Dienst", agent: "KI-Agent" },
      status: { ...status, expired: "abgelaufen", revoked: "widerrufen", disabled: "aus",
                orphaned: "niemand verantwortlich" },
    },
  },

  roles: {
    title: "Rollen", one: "Rolle", new: "Neue Rolle", made: "{name} ist angelegt.",
    own: "Dieser Organisation", system: "Des Systems", members: "Wer sie hat",
    empty: "Es gibt noch keine. Eine Rolle ist eine Menge von Berechtigungen, die zusammen vergeben werden.",
    nobody: ["Niemand hat sie."],
    gone: "Diese Rolle gibt es nicht, oder nicht mehr.",
    notYours: "Ihre eigene Rolle hat sie nicht",
    columns: { name: "Name", key: "Schlüssel", permissions: "Berechtigungen", memberCount: "Mitglieder",
               ...person, joinedAt: "Beigetreten", userId: "Id" },
    filters: { status: "Status" },
    fields: { name: "Name", key: "Schlüssel", permissions: "Berechtigungen" },
    help: { key: "Ein kurzer Name für Skripte, etwa helpdesk. Er bleibt, wie er ist; ohne ihn wird er aus dem Namen gebildet." },
    options: { permissions, status },
    acts: {
      remove: { verb: "Löschen", title: "{name} löschen?", done: "{name} ist gelöscht.",
                notes: ["Eine Rolle, die jemand hat, lässt sich nicht löschen: Geben Sie ihm erst eine andere."] },
    },
  },
};
