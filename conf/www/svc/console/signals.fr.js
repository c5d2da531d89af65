export default {
  impossible_travel: "Trop loin de la dernière connexion pour le temps écoulé",
  failing_address: "De nombreux échecs depuis cette adresse",
  recent_failures: "Des échecs de cet utilisateur juste avant",
  new_country: "Un pays nouveau pour l'utilisateur",
  new_device: "Un appareil nouveau pour l'utilisateur",
  new_network: "Un réseau nouveau pour l'utilisateur",
  long_absent: "L'utilisateur est resté longtemps absent",
  unusual_hour: "Une heure inhabituelle pour l'utilisateur",
  trusted_device: "Un appareil auquel l'utilisateur fait confiance",
};
