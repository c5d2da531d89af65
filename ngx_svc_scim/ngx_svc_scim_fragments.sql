-- fragment: scim_user
-- needs: account
-- What an answer of SCIM has of a user: the columns of ngx_svc_scim.h, in their order.
account.id, account.user_name, account.external_id, account.status, account.first_name,
       account.last_name, account.display_name, account.title, account.department,
       account.locale, account.created_at, account.updated_at
