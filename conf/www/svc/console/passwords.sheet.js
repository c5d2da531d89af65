// The password policy, and those of groups.

const yes = { kind: "switch" };

export const operations = [
  "POST /v1/admin/password-policy/groups",
  "PUT /v1/admin/password-policy/groups/{groupId}",
  "DELETE /v1/admin/password-policy/groups/{groupId}",
];

export default {

  passwords: {
    path: "/admin/password-policy", section: "passwordPolicy", needs: "tenant:manage",
    change: "PUT",
    form: {
      minLength: { kind: "number", min: 8, max: 128, must: true },
      rejectBreached: yes, rejectContextual: yes, requireLower: yes, requireUpper: yes,
      requireDigit: yes, requireSymbol: yes,
      historyCount: { kind: "number", min: 0, max: 24, must: true },
      maxAgeDays: { kind: "number", min: 0, max: 3650, must: true },
    },
  },

  passwordGroups: {
    path: "/admin/password-policy/groups", list: "groups", id: "groupId", one: true,
    needs: "tenant:manage",
    columns: { groupName: "text", updatedAt: "time" },
  },
};
