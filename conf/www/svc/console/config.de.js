import policy from "./policy.de.js";

const { fields, refused } = policy;

export default {
  configuration: {
    title: "Konfiguration",
    note: "Zugriffs-, Risiko- und Passwortrichtlinien und die Rollen der Organisation als eine Datei: Bewahren Sie sie in git auf, planen Sie sie im Pull Request, wenden Sie sie beim Merge an.",
    export: "Exportieren",
    exportNote: "Was gilt, in kanonischer Form: Noch einmal angewandt, ändert es nichts.",
    download: "Herunterladen", edit: "Unten bearbeiten",
    file: "Planen und anwenden", upload: "Eine Datei", bundle: "Oder ihr Text",
    bundleHelp: "JSON von höchstens 1 MiB. Was nicht darin steht, wird weder geändert noch gelöscht. Ein Plan ändert nichts, und zeigt Abweichungen.",
    plan: "Planen", apply: "Anwenden", applied: "Die Konfiguration gilt.",
    large: "Das ist größer als 1 MiB.", noObject: "Das ist JSON, aber kein Objekt.",
    noJson: "Das ist kein JSON: {reason}",
    planned: "Der Plan",
    stale: "Inzwischen wurde etwas geändert, und nichts wurde angewandt. Dies ist ein neuer Plan.",
    noDrift: "Keine Abweichung: Alles, was die Datei sagt, gilt.",
    summary: "{create} anzulegen, {update} zu ändern; {delete} gelten, die nicht in der Datei stehen.",
    summaryPruned: "{create} anzulegen, {update} zu ändern, {delete} zu löschen.",
    refused,
    deletes: "Nicht in der Datei", notPruned: "Diese bleiben.", pruned: "Diese werden gelöscht.",
    prune: { label: "Löschen, was die Datei nicht hat", verb: "Anwenden und löschen",
             title: { one: "Anwenden, und {n} davon löschen?", other: "Anwenden, und {n} davon löschen?" },
             notes: ["Was gelöscht ist, bleibt nur im Audit-Protokoll."] },
    actions: { create: "anlegen", update: "ändern", delete: "löschen", kept: "bleibt" },
    sections: { accessPolicy: "Zugriffsrichtlinie", riskPolicy: "Risikorichtlinie",
                passwordPolicy: "Passwortrichtlinie", groupPasswordPolicy: "Passwortrichtlinie der Gruppe",
                role: "Rolle" },
    fields: { ...fields, rules: "Regeln", defaultAction: "Alle anderen", name: "Name",
              action: "Dann", enabled: "Ein", networks: "Netze", countries: "Länder",
              timeWindows: "Zeiten", permissions: "Berechtigungen", key: "Schlüssel",
              groupId: "Gruppe", mfaThreshold: "Zweiter Faktor ab", denyThreshold: "Abgewiesen ab" },
    pipeline: {
      title: "In einer Pipeline",
      note: "Sie braucht curl, jq, ein Token mit allen Berechtigungen, die die Rollen geben, und das Skript tenant-pipeline, installiert als /usr/share/doc/ngx_svc/examples/tenant-pipeline.",
      of: "Für {name}",
    },
  },
};
