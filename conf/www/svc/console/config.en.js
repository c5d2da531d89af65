import policy from "./policy.en.js";

const { fields, refused } = policy;

export default {
  configuration: {
    title: "Configuration",
    note: "Access, risk and password policies and the tenant's roles as one file: keep it in git, plan it in a pull request, apply it on merge.",
    export: "Export", exportNote: "What is in force, in canonical form: applied again it changes nothing.",
    download: "Download", edit: "Edit below",
    file: "Plan and apply", upload: "A file", bundle: "Or its text",
    bundleHelp: "JSON of at most 1 MiB. What is not in it is neither changed nor deleted. A plan changes nothing, and shows drift.",
    plan: "Plan", apply: "Apply", applied: "The configuration is in force.",
    large: "This is larger than 1 MiB.", noObject: "This is JSON, but no object.",
    noJson: "This is no JSON: {reason}",
    planned: "The plan",
    stale: "Something was changed meanwhile, and nothing was applied. This is a new plan.",
    noDrift: "No drift: all that the file says is in force.",
    summary: "{create} to create, {update} to change; {delete} in force that the file does not have.",
    summaryPruned: "{create} to create, {update} to change, {delete} to delete.",
    refused,
    deletes: "Not in the file", notPruned: "These stay.", pruned: "These are deleted.",
    prune: { label: "Delete what the file does not have", verb: "Apply and delete",
             title: { one: "Apply, and delete {n} of them?", other: "Apply, and delete {n} of them?" },
             notes: ["What is deleted stays in the audit log alone."] },
    actions: { create: "create", update: "change", delete: "delete", kept: "stays" },
    sections: { accessPolicy: "Access policy", riskPolicy: "Risk policy",
                passwordPolicy: "Password policy", groupPasswordPolicy: "Password policy of the group",
                role: "Role" },
    fields: { ...fields, rules: "Rules", defaultAction: "Everybody else", name: "Name",
              action: "Then", enabled: "On", networks: "Networks", countries: "Countries",
              timeWindows: "Times", permissions: "Permissions", key: "Key",
              groupId: "Group", mfaThreshold: "A second factor from", denyThreshold: "Denied from" },
    pipeline: {
      title: "In a pipeline",
      note: "It takes curl, jq, a token with all permissions that the roles grant, and the script tenant-pipeline, which is installed as /usr/share/doc/ngx_svc/examples/tenant-pipeline.",
      of: "For {name}",
    },
  },
};
