export default {
  account: "Your account",
  failed: "This view could not be shown",
  menu: "Menu",
  navigation: "Console",
  noPermission: "It takes the permission {permission}. Somebody with the role owner can give it to you.",
  noView: "There is nothing here",
  noViewNote: "The address is of no view of this console.",
  role: "Role: {role}",
  theme: "Colours",
  themes: { "": "Of the system", light: "Light", dark: "Dark" },
  groups: { people: "People" },
  views: { users: "Users", groups: "Groups", roles: "Roles" },
};
