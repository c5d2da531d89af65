export default {
  impossible_travel: "Too far from the last sign-in for the time between",
  failing_address: "Many failures from this address",
  recent_failures: "Failures of this user just before",
  new_country: "A country that is new for the user",
  new_device: "A device that is new for the user",
  new_network: "A network that is new for the user",
  long_absent: "The user was away for long",
  unusual_hour: "An hour that is unusual for the user",
  trusted_device: "A device that the user trusts",
};
