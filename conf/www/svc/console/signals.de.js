export default {
  impossible_travel: "Zu weit von der letzten Anmeldung für die Zeit dazwischen",
  failing_address: "Viele Fehlversuche von dieser Adresse",
  recent_failures: "Fehlversuche dieses Benutzers kurz zuvor",
  new_country: "Ein Land, das für den Benutzer neu ist",
  new_device: "Ein Gerät, das für den Benutzer neu ist",
  new_network: "Ein Netz, das für den Benutzer neu ist",
  long_absent: "Der Benutzer war lange weg",
  unusual_hour: "Eine für den Benutzer ungewöhnliche Stunde",
  trusted_device: "Ein Gerät, dem der Benutzer vertraut",
};
