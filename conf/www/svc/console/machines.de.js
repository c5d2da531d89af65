import permissions from "./permissions.de.js";

const token = {
  name: "Name", prefix: "Beginnt mit", maker: "Wem es gehört", actsOnOwners: "Darf Besitzer verwalten",
  createdAt: "Angelegt", createdBy: "Angelegt von", lastUsedAt: "Zuletzt benutzt", revokedAt: "Widerrufen",
  id: "ID",
};

export default {
  tokens: {
    title: "API-Token", one: "API-Token", new: "Neues Token", made: "{name} ist angelegt",
    note: "Mit einem Token benutzt ein Programm die Admin-API. Was es darf, steht fest, sobald es angelegt ist.",
    empty: ["Es gibt noch kein Token.",
            "Legen Sie eines je Programm an, mit nicht mehr Berechtigungen, als es braucht."],
    secret: "Das Token",
    use: "Probieren Sie es:",
    columns: { ...token, scopes: "Berechtigungen", status: "Status", expiresAt: "Endet" },
    options: {
      status: { active: "aktiv", expired: "abgelaufen", revoked: "widerrufen" },
      expiresInDays: { 30: "nach 30 Tagen", 90: "nach 90 Tagen", 365: "nach einem Jahr" },
      scopes: permissions,
    },
    none: { expiresInDays: "nie, bis es widerrufen wird" },
    fields: { name: "Name", scopes: "Berechtigungen", expiresInDays: "Es endet" },
    help: { name: "Wofür es da ist, damit andere wissen, wer es braucht." },
    notYours: "Ihre eigene Rolle hat sie nicht",
    tabs: { one: "Token", activity: "Aktivität" },
    acts: {
      revoke: { verb: "Widerrufen", title: "{name} widerrufen?", done: "{name} ist widerrufen.",
                notes: ["Was das Token {prefix}… benutzt, wird ab seiner nächsten Anfrage abgewiesen. Das lässt sich nicht rückgängig machen.",
                        "Zuletzt benutzt: {lastUsedAt}. Berechtigungen: {scopes}.",
                        "Was es angelegt hat, bleibt."] },
    },
  },

  scim: {
    title: "SCIM-Token", one: "SCIM-Token", new: "Neues Token", made: "{name} ist angelegt",
    note: "Mit einem SCIM-Token stellt ein Verzeichnis wie Entra ID oder Okta hier Benutzer bereit.",
    empty: ["Es gibt noch kein Token.",
            "Legen Sie eines für jedes Verzeichnis an, das Benutzer bereitstellen soll."],
    secret: "Das Token", baseUrl: "Die Adresse für die Bereitstellung",
    columns: token,
    fields: { name: "Name" },
    help: { name: "Der des Verzeichnisses, zum Beispiel. Ohne Namen heißt es SCIM." },
    tabs: { one: "Token", activity: "Aktivität" },
    guides: [
      ["Microsoft Entra ID", [
        "Öffnen Sie die Unternehmensanwendung, dann Bereitstellung (Provisioning), und wählen Sie den Modus Automatisch.",
        "Unter Administratoranmeldeinformationen ist die Mandanten-URL (Tenant URL) {url}, und das geheime Token (Secret Token) das Token von oben. Testen Sie die Verbindung.",
        "Schalten Sie unter Zuordnungen (Mappings) Gruppen aus: Nur Benutzer werden bereitgestellt.",
        "Ordnen Sie userName ein Attribut zu, das eine E-Mail-Adresse ist, und externalId objectId.",
        "Weisen Sie der Anwendung Personen zu, und starten Sie die Bereitstellung.",
      ]],
      ["Okta", [
        "Schalten Sie in der Anwendung SCIM provisioning ein, und öffnen Sie Provisioning, Integration.",
        "SCIM connector base URL ist {url}; unique identifier field ist userName.",
        "Wählen Sie Push New Users und Push Profile Updates; lassen Sie Push Groups aus.",
        "Authentication mode ist HTTP Header, mit dem Token von oben.",
        "Erlauben Sie unter To App, Benutzer anzulegen, zu ändern und zu deaktivieren, und weisen Sie Personen zu.",
      ]],
    ],
    acts: {
      revoke: { verb: "Widerrufen", title: "{name} widerrufen?", done: "{name} ist widerrufen.",
                notes: ["Das Verzeichnis, das das Token {prefix}… benutzt, stellt ab seiner nächsten Anfrage niemanden mehr bereit, und deaktiviert auch niemanden mehr. Das lässt sich nicht rückgängig machen.",
                        "Zuletzt benutzt: {lastUsedAt}.",
                        "Wen es bereitgestellt hat, der bleibt, wie er ist."] },
    },
  },

  webhooks: {
    title: "Webhooks", one: "Webhook", new: "Neuer Webhook", made: "Der Webhook ist angelegt",
    note: "Ein Webhook erfährt, was hier geschieht, durch eine signierte Anfrage an eine Ihrer Adressen.",
    empty: ["Es gibt noch keinen Webhook.",
            "Legen Sie einen an, damit eines Ihrer Systeme erfährt, wenn Leute kommen, sich anmelden oder gehen."],
    secret: "Das Geheimnis, das Zustellungen signiert",
    columns: { url: "Adresse", events: "Ereignisse", enabled: "Zustand", createdAt: "Angelegt", id: "ID" },
    options: {
      events: { "user.created": "user.created: Jemand wurde bereitgestellt, oder hat eine Einladung angenommen",
                "user.login": "user.login: Jemand hat sich angemeldet",
                "user.deleted": "user.deleted: Ein Konto wurde gelöscht" },
    },
    fields: { url: "Adresse", events: "Ereignisse", enabled: "Zustellungen senden" },
    help: { url: "Sie beginnt mit https:// und liegt in einem öffentlichen Netz. Eine neue Adresse bekommt auch, was aussteht.",
            enabled: "Ist er aus, wird Ausstehendes verworfen, und was inzwischen geschieht, wird nie gesendet." },
    tabs: { one: "Webhook", deliveries: "Zustellungen", rotate: "Neues Geheimnis", activity: "Aktivität" },
    verify: "Prüfen Sie jede Zustellung, bevor ihr Inhalt gelesen wird. In Python:",
    verifyNode: "In Node.js:",
    refresh: "Aktualisieren",
    test: {
      title: "Muster senden", verb: "Muster senden", off: "Solange er aus ist, wird nichts gesendet.",
      note: "Ein user.created von niemandem, mit \"test\": true.",
      waiting: "Gesendet, wird zugestellt …",
      still: "Innerhalb von fünf Sekunden nicht bestätigt. Die Zustellungen zeigen, was daraus wird.",
      none: "Unterwegs. Die Zustellungen werden es zeigen.",
      over: { acknowledged: "Die Zustellung wurde bestätigt.", abandoned: "Die Zustellung wurde aufgegeben.",
              refused: "Nichts wurde gesendet: Diese Adresse ist nicht erlaubt." },
    },
    rotate: {
      note: "Das Geheimnis eines Webhooks bleibt, wie es ist. Ein neues kommt mit einem zweiten Webhook; nichts geht inzwischen verloren.",
      make: "Einen zweiten Webhook anlegen",
      makeNote: "Er hat dieselbe Adresse und dieselben Ereignisse, und ein eigenes Geheimnis. Ab jetzt kommt jedes Ereignis zweimal, mit einer ID.",
      makeVerb: "Anlegen",
      both: "Den Empfänger beide Geheimnisse annehmen lassen",
      bothNote: "Eine Zustellung ist echt, wenn ihre Signatur mit einem von beiden stimmt.",
      test: "Ein Muster mit dem neuen Geheimnis senden",
      remove: "Den alten Webhook löschen",
      removeNote: "Lassen Sie den Empfänger dann nur noch das neue Geheimnis annehmen.",
      removeVerb: "Alten löschen",
    },
    acts: {
      remove: { verb: "Löschen", title: "Diesen Webhook löschen?", done: "Der Webhook ist gelöscht.",
                notes: ["{name}", "Was aussteht, wird nicht gesendet, und auch sonst nichts mehr."] },
    },
  },

  deliveries: {
    empty: ["In den letzten sieben Tagen wurde nichts zugestellt."],
    columns: { createdAt: "Wann", event: "Ereignis", attempt: "Versuch", outcome: "Ergebnis",
               status: "Status", durationMs: "Dauer", error: "Fehler", id: "Zustellung" },
    again: { verb: "Erneut zustellen", done: "Sie ist unterwegs. Empfänger erkennen sie an ihrer ID." },
    options: {
      outcome: { acknowledged: "bestätigt", retried: "fehlgeschlagen, kommt noch einmal",
                 abandoned: "aufgegeben", refused: "nicht erlaubt" },
    },
  },
};
