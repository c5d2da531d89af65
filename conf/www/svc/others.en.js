export default {
  another: "Sign in in another way",
  failed: "The sign-in did not work. Please try again.",
  quote: "If you ask your administrator, quote",
  signInWith: "Sign in with {name}",
  errors: {
    conflict: "This account of the other service belongs to another user here.",
    directory_account: "Your organisation's directory has your password: change it there.",
    directory_password_expired: "Your password has expired: change it in your organisation's directory, and sign in with the new one.",
    email_unverified: "The other service does not confirm your e-mail address. Confirm it there, or sign in in another way.",
    federation_denied: "The other service did not sign you in, or you cancelled.",
    federation_failed: "The other service's answer could not be used. Please try again.",
    flow_expired: "That took too long, or was begun in another browser. Please start again.",
    invitation_mismatch: "The invitation is for another e-mail address than the one that you have signed in with.",
    link_required: "There is an account of your address already. Sign in to it in another way.",
    no_account: "You have no account here. Ask your administrator for an invitation.",
    sso_required: "Your organisation wants you to sign in with its own sign-in. Begin with your e-mail address.",
  },
};
