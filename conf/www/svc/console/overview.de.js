export default {
  overview: {
    title: "Übersicht",
    period: "Zeitraum",
    days: { one: "{n} Tag", other: "{n} Tage" },

    trouble: {
      title: "Zu erledigen",
      none: "Im Moment ist nichts zu erledigen",
      states: { open: "offen", failing: "gestört", held: "angehalten", failed: "fehlgeschlagen" },
      of: { incidents: "Vorfälle", anomalies: "Auffälligkeiten", targets: "SCIM-Ziele", deliveries: "Webhooks" },
      incidents: { one: "{n} Vorfall, den noch niemand bestätigt hat", other: "{n} Vorfälle, die noch niemand bestätigt hat" },
      anomalies: { one: "{n} Auffälligkeit bei Agenten, die noch niemand abgehakt hat", other: "{n} Auffälligkeiten bei Agenten, die noch niemand abgehakt hat" },
      targets: { failing: "{name} weist alle SCIM-Anfragen ab", held: "{name} würde viele Benutzer verlieren: Bitte prüfen und bestätigen" },
      deliveries: "{name} hat in den letzten 24 Stunden einen Webhook nicht angenommen",
    },

    signIns: {
      title: "Anmeldungen", success: "Erfolgreich", failure: "Fehlgeschlagen", denied: "Abgewiesen", lockouts: "Gesperrte Konten",
      rateLimited: "Gebremst", mfa: "Benutzer mit zweitem Faktor", mfaOf: "{n} von {all}",
      factor: "zweiter Faktor", by: { blocked: "blockierte Adresse", policy: "Richtlinie", risk: "Risiko" },
      none: "An diesen Tagen hat niemand versucht, sich anzumelden.",
    },

    users: {
      title: "Benutzer", total: "Gesamt", fresh: "Neu", active: "Angemeldet",
      activeIn: { one: "Heute angemeldet", other: "In {n} Tagen angemeldet" },
      pending: { one: "{n} Einladung steht aus", other: "{n} Einladungen stehen aus" },
      nobody: "Keine Einladung steht aus.", none: "An diesen Tagen hat sich niemand angemeldet.",
    },

    chart: { utc: "Tage nach UTC", table: "Als Tabelle", day: "Tag" },

    steps: {
      title: "Erste Schritte", show: "Erste Schritte", hide: "Ausblenden",
      count: "{n} von {all} sind erledigt.", whole: "Alle sind erledigt.",
      states: { done: "erledigt", todo: "offen", unknown: "unbekannt" },
      of: {
        factor: { title: "Eigenen zweiten Faktor einrichten", note: "Einen Passkey oder eine App mit Codes: Ein Passwort allein schützt ein Administratorkonto nicht." },
        owner: { title: "Jemanden als zweiten Inhaber einladen", note: "Damit jemand helfen kann, wenn einer von Ihnen ausgesperrt ist." },
        invited: { title: "Jemanden einladen", note: "Das eigene Passwort wird über einen Link gesetzt." },
        logo: { title: "Ihr Logo hochladen", note: "Daran erkennt man, dass die Anmeldeseite Ihre ist." },
        mail: { title: "E-Mails werden versendet", note: "Vergessene Passwörter und Codes brauchen sie. Der Betreiber des Servers richtet das mit svc_mail ein." },
        policy: { title: "Festlegen, wer von wo hereinkommt", note: "Mit Regeln für Netze, Länder und Zeiten, oder nach dem Risiko einer Anmeldung." },
        application: { title: "Eine Anwendung anbinden", note: "Bei ihr melden sich Ihre Leute an, mit OpenID Connect." },
        connected: { title: "Ein Verzeichnis oder einen Webhook anbinden", note: "Ein Verzeichnis stellt Benutzer über SCIM bereit; ein Webhook erfährt, was hier geschieht." },
        domain: { title: "Eine Domain bestätigen", note: "Dann ist bekannt, welche Adressen Ihre sind." },
      },
    },
  },
};
