package ui

import (
	"github.com/bravellian/pawl/outbox"
	"github.com/google/uuid"
)

// pages are the pages of the dashboard, in the order of the navigation.
func pages() []page {
	return []page{
		{pattern: "/{$}", nav: "Overview", path: "", show: overview},
		{pattern: "/problems", nav: "Problems", path: "problems", show: problems},
		{pattern: "/messages", nav: "Messages", path: "messages", show: messages},
		{pattern: "/messages/{id}", show: message},
		{pattern: "/failed", nav: "Failed", path: "failed", show: failed},
		{pattern: "/bulk", nav: "Bulk acts", path: "bulk", show: bulkActs},
		{pattern: "/topics", nav: "Topics and queues", path: "topics", show: topicsAndQueues},
		{pattern: "/find", show: findPage},
		{pattern: "/topic", show: oneTopic},
		{pattern: "/queue", show: oneQueue},
		{pattern: "/joins", nav: "Joins", path: "joins", show: joins},
		{pattern: "/joins/{id}", show: oneJoin},
		{pattern: "/inbox", nav: "Inbox", path: "inbox", show: inboxes},
		{pattern: "/timers", nav: "Timers", path: "timers", show: timers},
		{pattern: "/jobs", nav: "Jobs", path: "jobs", show: jobs},
		{pattern: "/job", show: oneJob},
		{pattern: "/job/edit", show: editJob},
		{pattern: "/leases", nav: "Leases", path: "leases", show: leases},
		{pattern: "/workers", nav: "Workers", path: "workers", show: workers},
		{pattern: "/stores", nav: "Stores", path: "stores", fleet: true, show: stores},
		{pattern: "/audit", nav: "Audit", path: "audit", show: auditTrail},
	}
}

// changes are what operators do.
func changes(v *visit) map[string]change {
	return map[string]change{
		"retry": retry, "discard": discard, "undiscard": undiscard, "retopic": retopic, "cancel": cancelMessage, "reschedule": rescheduleMessage,
		"pause": pauseSubject, "resume": resumeSubject, "limit": limitSubject, "unlimit": unlimitSubject,
		"cancel-join": byID(uuid.Parse, cancelJoin), "retry-join": byID(uuid.Parse, retryJoin), "revive": revive, "cancel-timer": byID(outbox.ParseMessageID, cancelTimer), "reschedule-timer": byID(outbox.ParseMessageID, rescheduleTimer),
		"run-job": runJob, "enable-job": enableJob, "disable-job": disableJob, "put-job": v.putJob, "remove-job": removeJob, "release-lease": releaseLease, "repair": repair, "stop-bulk": byID(uuid.Parse, stopBulk),
	}
}
