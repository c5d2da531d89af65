/*
 * The counters and the gauges that the metrics location shows.
 */

#include "ngx_svc_metrics_samples.h"


const ngx_svc_metrics_sample_t  ngx_svc_metrics_counter_samples[] = {

    { "svc_webhook_events_total",
      "Events that at least one webhook endpoint takes.", "",
      NGX_SVC_M_EVENTS },

    { "svc_webhook_queued_total", "Deliveries put into the queue.", "",
      NGX_SVC_M_QUEUED },

    { "svc_webhook_dropped_total", "Deliveries for which there was no place.",
      "reason=\"queue_full\"", NGX_SVC_M_DROPPED_FULL },
    { "svc_webhook_dropped_total", NULL, "reason=\"tenant_full\"",
      NGX_SVC_M_DROPPED_TENANT },
    { "svc_webhook_dropped_total", NULL, "reason=\"redis\"",
      NGX_SVC_M_DROPPED_REDIS },
    { "svc_webhook_dropped_total", NULL, "reason=\"endpoint_full\"",
      NGX_SVC_M_DROPPED_ENDPOINT },
    { "svc_webhook_dropped_total", NULL, "reason=\"damaged\"",
      NGX_SVC_M_DROPPED_DAMAGED },
    { "svc_webhook_dropped_total", NULL, "reason=\"not_authentic\"",
      NGX_SVC_M_DROPPED_FORGED },
    { "svc_webhook_dropped_total", NULL, "reason=\"expired\"",
      NGX_SVC_M_DROPPED_EXPIRED },

    { "svc_webhook_replayed_total",
      "Deliveries put into the queue from the audit log.", "",
      NGX_SVC_M_REPLAYED },

    { "svc_webhook_deliveries_total", "Deliveries that have ended.",
      "outcome=\"acknowledged\"", NGX_SVC_M_ACKNOWLEDGED },
    { "svc_webhook_deliveries_total", NULL, "outcome=\"abandoned\"",
      NGX_SVC_M_ABANDONED },
    { "svc_webhook_deliveries_total", NULL, "outcome=\"refused\"",
      NGX_SVC_M_REFUSED },
    { "svc_webhook_deliveries_total", NULL, "outcome=\"cancelled\"",
      NGX_SVC_M_CANCELLED },

    { "svc_webhook_retries_total",
      "Failed attempts that another one follows.", "", NGX_SVC_M_RETRIED },

    { "svc_webhook_unsigned_total",
      "Outcomes that could not be signed, nor acknowledged to Redis.", "",
      NGX_SVC_M_UNSIGNED },

    { "svc_webhook_taken_over_total",
      "Deliveries taken over from a helper process that had died.", "",
      NGX_SVC_M_TAKEN_OVER },

    { "svc_webhook_helper_starts_total", "Helper processes started.", "",
      NGX_SVC_M_HELPER_STARTS },

    { "svc_mail_queued_total", "Mails put into the queue.", "",
      NGX_SVC_M_MAIL_QUEUED },

    { "svc_mail_total", "Mails that have ended.", "outcome=\"sent\"",
      NGX_SVC_M_MAIL_SENT },
    { "svc_mail_total", NULL, "outcome=\"rejected\"",
      NGX_SVC_M_MAIL_REJECTED },
    { "svc_mail_total", NULL, "outcome=\"failed\"", NGX_SVC_M_MAIL_FAILED },
    { "svc_mail_total", NULL, "outcome=\"expired\"", NGX_SVC_M_MAIL_EXPIRED },
    { "svc_mail_total", NULL, "outcome=\"dropped\"", NGX_SVC_M_MAIL_DROPPED },
    { "svc_mail_total", NULL, "outcome=\"damaged\"", NGX_SVC_M_MAIL_DAMAGED },

    { "svc_mail_retries_total",
      "Failed attempts that another one follows.", "",
      NGX_SVC_M_MAIL_RETRIED },

    { "svc_scim_pushes_total", "Users pushed to SCIM targets.",
      "outcome=\"done\"", NGX_SVC_M_SCIM_DONE },
    { "svc_scim_pushes_total", NULL, "outcome=\"retried\"",
      NGX_SVC_M_SCIM_RETRIED },
    { "svc_scim_pushes_total", NULL, "outcome=\"paused\"",
      NGX_SVC_M_SCIM_PAUSED },
    { "svc_scim_pushes_total", NULL, "outcome=\"failing\"",
      NGX_SVC_M_SCIM_FAILING },
    { "svc_scim_pushes_total", NULL, "outcome=\"refused\"",
      NGX_SVC_M_SCIM_REFUSED },
    { "svc_scim_pushes_total", NULL, "outcome=\"user\"",
      NGX_SVC_M_SCIM_USER },

    { "svc_redis_moves_total",
      "Times that a process followed the sentinels to another master.", "",
      NGX_SVC_M_REDIS_MOVES },

    { "svc_rate_store_total",
      "Checks of the limits of sign-in, by who counted.", "store=\"redis\"",
      NGX_SVC_M_RATE_REDIS },
    { "svc_rate_store_total", NULL, "store=\"memory\"",
      NGX_SVC_M_RATE_MEMORY },

    { "svc_rate_limited_total", "Requests over a limit of sign-in.",
      "family=\"login\",key=\"ip\"", NGX_SVC_M_RATE_LOGIN_IP },
    { "svc_rate_limited_total", NULL, "family=\"login\",key=\"email\"",
      NGX_SVC_M_RATE_LOGIN_EMAIL },
    { "svc_rate_limited_total", NULL, "family=\"signup\",key=\"ip\"",
      NGX_SVC_M_RATE_SIGNUP_IP },
    { "svc_rate_limited_total", NULL, "family=\"signup\",key=\"email\"",
      NGX_SVC_M_RATE_SIGNUP_EMAIL },
    { "svc_rate_limited_total", NULL, "family=\"domain\",key=\"tenant\"",
      NGX_SVC_M_RATE_DOMAIN_TENANT },

    { "svc_oauth_tokens_total", "Requests for tokens, by grant type.",
      "grant=\"client_credentials\",outcome=\"issued\"",
      NGX_SVC_M_TOKEN_CLIENT },
    { "svc_oauth_tokens_total", NULL,
      "grant=\"client_credentials\",outcome=\"refused\"",
      NGX_SVC_M_TOKEN_CLIENT_REFUSED },
    { "svc_oauth_tokens_total", NULL,
      "grant=\"authorization_code\",outcome=\"issued\"",
      NGX_SVC_M_TOKEN_CODE },
    { "svc_oauth_tokens_total", NULL,
      "grant=\"authorization_code\",outcome=\"refused\"",
      NGX_SVC_M_TOKEN_CODE_REFUSED },
    { "svc_oauth_tokens_total", NULL,
      "grant=\"refresh_token\",outcome=\"issued\"",
      NGX_SVC_M_TOKEN_REFRESH },
    { "svc_oauth_tokens_total", NULL,
      "grant=\"refresh_token\",outcome=\"refused\"",
      NGX_SVC_M_TOKEN_REFRESH_REFUSED },
    { "svc_oauth_tokens_total", NULL,
      "grant=\"token-exchange\",outcome=\"issued\"",
      NGX_SVC_M_TOKEN_EXCHANGE },
    { "svc_oauth_tokens_total", NULL,
      "grant=\"token-exchange\",outcome=\"refused\"",
      NGX_SVC_M_TOKEN_EXCHANGE_REFUSED },

    { "svc_oauth_introspections_total",
      "Tokens that were asked about, and whether they were active.",
      "active=\"true\"", NGX_SVC_M_INTROSPECT_ACTIVE },
    { "svc_oauth_introspections_total", NULL, "active=\"false\"",
      NGX_SVC_M_INTROSPECT_DEAD },

    { "svc_oauth_token_rows_lost_total",
      "Rows of clients' tokens that were not stored; the tokens live.", "",
      NGX_SVC_M_TOKEN_ROWS_LOST },

    { "svc_oauth_anomalies_total",
      "What was unusual of agents, once for each new row.",
      "type=\"token_burst\"", NGX_SVC_M_ANOMALY_TOKEN_BURST },
    { "svc_oauth_anomalies_total", NULL, "type=\"new_ip\"",
      NGX_SVC_M_ANOMALY_NEW_IP },
    { "svc_oauth_anomalies_total", NULL, "type=\"new_country\"",
      NGX_SVC_M_ANOMALY_NEW_COUNTRY },
    { "svc_oauth_anomalies_total", NULL, "type=\"scope_denied\"",
      NGX_SVC_M_ANOMALY_SCOPE_DENIED },
    { "svc_oauth_anomalies_total", NULL, "type=\"audience_denied\"",
      NGX_SVC_M_ANOMALY_AUDIENCE_DENIED },
    { "svc_oauth_anomalies_total", NULL, "type=\"off_hours\"",
      NGX_SVC_M_ANOMALY_OFF_HOURS },
    { "svc_oauth_anomalies_total", NULL, "type=\"disabled_use\"",
      NGX_SVC_M_ANOMALY_DISABLED_USE },
    { "svc_oauth_anomalies_total", NULL, "type=\"expired_use\"",
      NGX_SVC_M_ANOMALY_EXPIRED_USE },
    { "svc_oauth_anomalies_total", NULL, "type=\"new_subject\"",
      NGX_SVC_M_ANOMALY_NEW_SUBJECT },
    { "svc_oauth_anomalies_total", NULL, "type=\"secret_reuse\"",
      NGX_SVC_M_ANOMALY_SECRET_REUSE },

    { NULL, NULL, NULL, 0 }
};


const ngx_svc_metrics_sample_t  ngx_svc_metrics_gauge_samples[] = {

    { "svc_webhook_kept",
      "Deliveries in the buffers of workers, until Redis takes them.", "",
      NGX_SVC_G_KEPT },
    { "svc_webhook_queue_length",
      "Deliveries in the queue that all nodes share.", "", NGX_SVC_G_QUEUE },
    { "svc_webhook_pending",
      "Deliveries that this node has taken from the queue.", "",
      NGX_SVC_G_PENDING },
    { "svc_webhook_in_flight", "Deliveries being sent.", "",
      NGX_SVC_G_IN_FLIGHT },
    { "svc_scim_targets", "SCIM targets that this node pushes to.", "",
      NGX_SVC_G_SCIM_TARGETS },
    { "svc_scim_in_flight", "Users being pushed to SCIM targets.", "",
      NGX_SVC_G_SCIM_FLYING },
    { "svc_keys_missing",
      "Keys that rows are sealed under and svc_key_file lacks.", "",
      NGX_SVC_G_KEYS_MISSING },
    { "svc_audit_streams", "Open streams of the audit log.", "",
      NGX_SVC_G_STREAMS },

    { NULL, NULL, NULL, 0 }
};
