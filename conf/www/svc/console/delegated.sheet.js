// The journal of who acted for whom.

export default {
  delegations: {
    path: "/admin/agents/delegations", list: "delegations", id: "id", needs: "apps:manage",
    filters: { tokenId: "text", inChain: "application", clientId: "application", userId: "user",
               outcome: ["granted", "refused"], from: "time", to: "time" },
    tones: { outcome: { granted: "good", refused: "bad" } },
    columns: { createdAt: "time", actor: "node", subject: "node", audience: "text",
               scopes: "tags", outcome: "badge" },
  },
};
