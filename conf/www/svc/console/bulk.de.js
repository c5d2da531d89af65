export default {
  leave: "Noch ist nicht alles erledigt",
  stop: "Anhalten",
  most: "Mehr auf einmal geht nicht.",
  underWay: "{n} von {total} sind erledigt …",
  left: "„{verb}“ ging bei {n} nicht.",
  again: "Für diese wiederholen",
  undone: "Bei {n} rückgängig gemacht.",
  skipped: { one: "{n} Eintrag bleibt, wie er ist: Er wurde seither geändert.", other: "{n} Einträge bleiben, wie sie sind: Sie wurden seither geändert." },
  notUndone: "Bei {n} ließ es sich nicht rückgängig machen.",
  columns: { name: "Name", why: "Warum", link: "Link" },

  suspend: {
    title: { one: "{n} Benutzer sperren?", other: "{n} Benutzer sperren?" },
    notes: ["Alle ihre Sitzungen enden, und kommen beim Reaktivieren nicht zurück."],
    done: { one: "{n} Benutzer ist gesperrt.", other: "{n} Benutzer sind gesperrt." },
  },
  reactivate: {
    done: { one: "{n} Benutzer kann sich wieder anmelden.", other: "{n} Benutzer können sich wieder anmelden." },
  },
  logout: {
    title: { one: "{n} Benutzer abmelden?", other: "{n} Benutzer abmelden?" },
    notes: ["Alle ihre Sitzungen enden, auf jedem Gerät. Passwörter und zweite Faktoren bleiben."],
    done: { one: "Alle Sitzungen von {n} Benutzer sind beendet.", other: "Alle Sitzungen von {n} Benutzern sind beendet." },
  },
  resend: {
    title: { one: "{n} Einladung erneut senden?", other: "{n} Einladungen erneut senden?" },
    notes: ["Die früheren Links gelten nicht mehr.",
            "Ist der Mailversand eingerichtet, werden die neuen gemailt. Sie werden auch Ihnen gezeigt, einmal."],
    done: { one: "{n} Link ist neu.", other: "{n} Links sind neu." },
  },
  revoke: {
    title: { one: "{n} Einladung widerrufen?", other: "{n} Einladungen widerrufen?" },
    notes: ["Die Links gelten nicht mehr. Die Adressen können wieder eingeladen werden."],
    done: { one: "{n} Einladung ist widerrufen.", other: "{n} Einladungen sind widerrufen." },
  },
  group: {
    verb: "In eine Gruppe …", label: "Gruppe",
    title: { one: "{n} Benutzer in eine Gruppe aufnehmen", other: "{n} Benutzer in eine Gruppe aufnehmen" },
    done: { one: "{n} Benutzer ist jetzt in {name}.", other: "{n} Benutzer sind jetzt in {name}." },
  },
};
