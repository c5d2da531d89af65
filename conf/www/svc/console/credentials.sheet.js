// A new secret of a client: "path" is that of the request.

export const rotate = path => ({
  method: "POST", path,
  form: {
    graceSeconds: { kind: "choice", options: [0, 3600, 86400], first: 86400 },
    revokeTokens: { kind: "switch" },
  },
});
