import policy from "./policy.fr.js";

const { fields, refused } = policy;

export default {
  configuration: {
    title: "Configuration",
    note: "Les stratégies d'accès, de risque et de mot de passe et les rôles de l'organisation en un fichier : gardez-le dans git, planifiez-le dans une pull request, appliquez-le à la fusion.",
    export: "Exporter",
    exportNote: "Ce qui est en vigueur, en forme canonique : appliqué de nouveau, il ne change rien.",
    download: "Télécharger", edit: "Modifier ci-dessous",
    file: "Planifier et appliquer", upload: "Un fichier", bundle: "Ou son texte",
    bundleHelp: "Du JSON de 1 Mio au plus. Ce qui n'y est pas n'est ni modifié ni supprimé. Un plan ne change rien, et montre les écarts.",
    plan: "Planifier", apply: "Appliquer", applied: "La configuration est en vigueur.",
    large: "C'est plus grand que 1 Mio.", noObject: "C'est du JSON, mais pas un objet.",
    noJson: "Ce n'est pas du JSON : {reason}",
    planned: "Le plan",
    stale: "Quelque chose a été modifié entre-temps, et rien n'a été appliqué. Voici un nouveau plan.",
    noDrift: "Aucun écart : tout ce que dit le fichier est en vigueur.",
    summary: "{create} à créer, {update} à modifier ; {delete} en vigueur que le fichier n'a pas.",
    summaryPruned: "{create} à créer, {update} à modifier, {delete} à supprimer.",
    refused,
    deletes: "Absents du fichier", notPruned: "Ceux-ci restent.", pruned: "Ceux-ci sont supprimés.",
    prune: { label: "Supprimer ce que le fichier n'a pas", verb: "Appliquer et supprimer",
             title: { one: "Appliquer, et en supprimer {n} ?", other: "Appliquer, et en supprimer {n} ?" },
             notes: ["Ce qui est supprimé ne reste que dans le journal d'audit."] },
    actions: { create: "créer", update: "modifier", delete: "supprimer", kept: "reste" },
    sections: { accessPolicy: "Stratégie d'accès", riskPolicy: "Stratégie de risque",
                passwordPolicy: "Stratégie de mot de passe",
                groupPasswordPolicy: "Stratégie de mot de passe du groupe",
                role: "Rôle" },
    fields: { ...fields, rules: "Règles", defaultAction: "Tous les autres", name: "Nom",
              action: "Alors", enabled: "Activé", networks: "Réseaux", countries: "Pays",
              timeWindows: "Horaires", permissions: "Autorisations", key: "Clé",
              groupId: "Groupe", mfaThreshold: "Second facteur à partir de",
              denyThreshold: "Refus à partir de" },
    pipeline: {
      title: "Dans un pipeline",
      note: "Il faut curl, jq, un jeton avec toutes les autorisations que donnent les rôles, et le script tenant-pipeline, installé sous /usr/share/doc/ngx_svc/examples/tenant-pipeline.",
      of: "Pour {name}",
    },
  },
};
