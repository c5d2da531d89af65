const columns = {
  createdAt: "Wann", action: "Was", actor: "Wer", target: "Worüber", ip: "Adresse",
  outcome: "Ergebnis", country: "Land", userAgent: "Browser", requestId: "Anfrage", id: "Id",
};

export default {
  audit: {
    title: "Audit", note: "Was hier getan wurde und von wem, das Neueste zuerst.",
    columns, filters: { outcome: "Ergebnis", action: "Was", actorId: "Id der Person", from: "Von", to: "Bis" },
    options: { outcome: { success: "erfolgreich", failure: "gescheitert" } },
    empty: ["Das Protokoll ist leer."],
    details: "Einzelheiten", export: "Exportieren", sameActor: "Alles derselben Person",
    sameTarget: "Alles über dasselbe",
  },

  incidents: {
    title: "Vorfälle", one: "Vorfall",
    note: "Was wie ein Angriff aussieht oder jemanden braucht. Wer sich darum gekümmert hat, bestätigt es.",
    columns: { createdAt: "Wann", severity: "Schwere", title: "Was", status: "Status",
               acknowledgedBy: "Von" },
    filters: { all: "Zeigen" },
    options: { all: { false: "offene", true: "auch bestätigte" }, severity: { high: "hoch", medium: "mittel" },
               status: { open: "offen", acknowledged: "bestätigt" } },
    empty: ["Nichts braucht Sie gerade."],
    block: "Diese Adresse blockieren",
    todo: {
      credential_stuffing: "Eine Adresse versucht viele Konten: Blockieren Sie sie, und lassen Sie die Risikorichtlinie einen zweiten Faktor verlangen.",
      account_lockouts: "Viele Konten sind gesperrt: Sehen Sie im Audit nach, was sie gemeinsam haben.",
      mfa_guessing: "Jemand, der ein Passwort hat, errät einen Code: Lassen Sie das Passwort ändern.",
      risk_denied: "Eine Anmeldung war zu ungewöhnlich: Fragen Sie die Person, ob sie es war.",
      impossible_travel: "Zwei Anmeldungen lagen zu weit auseinander: Fragen Sie die Person, und melden Sie sie im Zweifel ab.",
      passkey_cloned: "Ein Passkey hat rückwärts gezählt: Lassen Sie ihn entfernen und einen anderen hinzufügen.",
      ldap_ambiguous: "Das Verzeichnis hat zwei Personen zu einem Namen: Berichtigen Sie den Filter oder die Einträge.",
      ldap_sync_held: "Ein Import würde viele Personen entfernen: Prüfen Sie das Verzeichnis, bevor Sie ihn zulassen.",
      scim_target_held: "Ein Ziel würde viele Benutzer verlieren: Prüfen Sie, was entzogen wurde, bevor Sie bestätigen.",
      token_maker_lost: "Wer ein Token erstellt hat, ist weg: Erstellen Sie ein anderes, und widerrufen Sie dieses.",
    },
    acts: { ack: { verb: "Bestätigen", title: "Diesen Vorfall bestätigen?", done: "Er ist bestätigt.",
                   notes: ["Er verlässt die Liste der offenen. Im Audit-Protokoll bleibt er."] } },
  },
};
