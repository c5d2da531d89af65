import policy from "./policy.de.js";

const { fields, refused, theirs } = policy;

export default {
  passwords: {
    title: "Passwörter",
    note: "Das gilt, wenn ein Passwort gesetzt wird; das Alter bei jeder Anmeldung.",
    fields,
    help: { historyCount: "0 bis 24; 0: jedes darf wiederkommen.", maxAgeDays: "0: Es läuft nicht ab.",
            minLength: "8 bis 128." },
    inWords: "In Worten",
    sentences: {
      minLength: "Es hat mindestens {value} Zeichen.",
      rejectBreached: { yes: "Es ist aus keinem Datenleck bekannt.",
                        no: "Es darf aus Datenlecks bekannt sein." },
      rejectContextual: { yes: "Es enthält weder Namen noch Adresse des Benutzers, noch die der Organisation.",
                          no: "Es darf Namen und Adressen enthalten." },
      requireLower: { yes: "Es hat einen Kleinbuchstaben.", no: "Es braucht keinen Kleinbuchstaben." },
      requireUpper: { yes: "Es hat einen Großbuchstaben.", no: "Es braucht keinen Großbuchstaben." },
      requireDigit: { yes: "Es hat eine Ziffer.", no: "Es braucht keine Ziffer." },
      requireSymbol: { yes: "Es hat ein Sonderzeichen.", no: "Es braucht kein Sonderzeichen." },
      historyCount: { no: "Frühere dürfen wiederkommen.", one: "Es ist nicht das letzte.",
                      other: "Es ist keines der letzten {value}." },
      maxAgeDays: { no: "Es läuft nicht ab.", one: "Es läuft nach einem Tag ab.",
                    other: "Es läuft nach {value} Tagen ab." },
    },
    sample: {
      title: "Ausprobieren", label: "Ein Beispiel, keines Ihrer Passwörter",
      note: "Es bleibt auf dieser Seite. Datenlecks, Namen und frühere Passwörter kennt nur der Server.",
      good: "ja", bad: "nein",
      of: { minLength: "mindestens {n} Zeichen", requireLower: "ein Kleinbuchstabe",
            requireUpper: "ein Großbuchstabe", requireDigit: "eine Ziffer",
            requireSymbol: "ein Sonderzeichen" },
    },
    review: { open: "Prüfen …", verb: "Anwenden", title: "Passwortrichtlinie prüfen", refused },
    theirs,
  },

  passwordGroups: {
    title: "Gruppen mit eigener Richtlinie",
    note: "Was die Richtlinie einer Gruppe sagt, ersetzt die der Organisation, lockerer oder strenger; alles andere ist wie dort. Von mehreren Gruppen gilt die strengste.",
    empty: ["Keine Gruppe hat eine."], add: "Einer Gruppe eine Richtlinie geben",
    columns: { groupName: "Gruppe", policy: "Anstelle der Organisation", updatedAt: "Geändert" },
    asTenant: "Wie die Organisation: {value}", empties: "Leer: wie die Organisation, {value}.",
    nothing: "Mindestens eines muss von der Richtlinie der Organisation abweichen.",
    change: "Ändern …", edit: "Richtlinie von {name} ändern", removeOne: "Richtlinie von {name} entfernen",
    saved: "Die Richtlinie von {name} ist gespeichert.",
    remove: { verb: "Entfernen", title: "Die Richtlinie von {name} entfernen?",
              notes: ["Für ihre Mitglieder gilt die Richtlinie der Organisation, oder die einer anderen Gruppe."],
              done: "{name} hat keine eigene Richtlinie mehr." },
    review: { open: "Prüfen …", verb: "Anwenden", title: "Richtlinie der Gruppe prüfen", refused },
  },
};
