// The risk policy, and what a sign-in's score is made of.

export default {

  risk: {
    path: "/admin/risk-policy", section: "riskPolicy", needs: "tenant:manage", change: "PUT",
    form: {
      enabled: { kind: "switch" },
      mfaThreshold: { kind: "number", min: 0, max: 100, must: true },
      denyThreshold: { kind: "number", min: 1, max: 100, must: true },
    },
    signals: {
      impossible_travel: [40], failing_address: [30], recent_failures: [10, 30], new_country: [25],
      new_device: [20], new_network: [10], long_absent: [10], unusual_hour: [5],
      trusted_device: [-15],
    },
  },
};
