package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// newAnswers returns all of them.
func newAnswers() answers {
	all := answers{}
	for _, a := range []answer{
		counting(recordAct),
		counting(func(t *txn, o op.AuditPurge) (int64, error) { return t.change(o) }),
		counting(adoptAudited), counting(placeAgain),
		counting(func(*txn, op.DoctorJoinHold) (int64, error) { return 0, nil }), // there is one writer
		counting(func(*txn, op.DoctorJoinLock) (int64, error) { return 0, nil }), // likewise
		counting(recountJoin), counting(settleMissed), counting(wakeOver),
		counting(repairAudited),
		counting(keepSteps), counting(parkFlows), counting(putSignal),
		listing(func(t *txn, _ op.GenerationCheck, _ func(engine.Row) error) error { return t.observeGeneration() }), // checkGeneration ran before
		counting(restored),
		counting(see), counting(takeMessage), counting(takeDone), counting(failAttempt), counting(reviveMessage),
		counting(putJob),
		counting(func(t *txn, o op.JobEnable) (int64, error) { return t.changeAudited(o.Note, "enable", o) }),
		counting(func(t *txn, o op.JobDisable) (int64, error) { return t.changeAudited(o.Note, "disable", o) }),
		counting(fireJobs), counting(triggerJob), counting(deleteJob), listing(claimRuns),
		counting(func(t *txn, o op.JobSettle) (int64, error) { return t.change(o) }),
		counting(attach), counting(attachNew), counting(report), counting(endJoin), counting(cancelJoin), counting(park), counting(purgeJoins),
		counting(putResults),
		counting(func(*txn, op.JoinHold) (int64, error) { return 0, nil }), // there is one writer
		counting(redriveJoin), counting(markMembers),
		counting(func(t *txn, o op.LeaseForce) (int64, error) { return t.changeAudited(o.Note, "release", o) }),
		counting(putLimit), counting(declareLimit), counting(removeLimit),
		counting(reserve), counting(enqueue), listing(enqueueClaimed), counting(enqueueOnce), listing(enqueueUnique), listing(claim), listing(claimSuspects),
		listing(claimAny), counting(suspects), counting(reap), counting(adopt), counting(purge),
		counting(ack), counting(ackOne), counting(abandon), counting(fail), counting(release), counting(extend), counting(parkPaused), counting(countActivity),
		counting(cancel), counting(reschedule), counting(retopic), ofDead(redrive), ofDead(discard), ofDead(undiscard), ofDead(countDead),
		counting(stop), counting(endStops), counting(erase),
		counting(bulkStep),
		counting(func(t *txn, o op.OutboxBulkStop) (int64, error) { return t.changeAudited(o.Note, "stop", o) }),
		counting(func(t *txn, o op.PausePut) (int64, error) { return t.changeAudited(o.Note, "pause", o) }),
		counting(endPause), counting(unpark),
		counting(scheduleTimers),
		counting(func(t *txn, o op.TimerCancel) (int64, error) { return t.changeAudited(o.Note, "cancel", o) }),
		counting(func(t *txn, o op.TimerCancelKey) (int64, error) { return t.changeAudited(o.Note, "cancel", o) }),
		counting(func(t *txn, o op.TimerReschedule) (int64, error) { return t.changeAudited(o.Note, "reschedule", o) }),
		counting(dispatchTimers), listing(claimTimers), counting(ackTimers), counting(failTimers), counting(abandonTimers), counting(reapTimers),
	} {
		all[a.operation] = a.run
	}
	return all
}

// statements returns the statements that the implementations run, each with zero fields.
func statements() []engine.Operation {
	return []engine.Operation{
		op.AuditPurge{}, auditPut{},
		doctorObjects{}, op.DoctorPlace{},
		op.DoctorJoinRecount{},
		doctorStrayMove{},
		flowKnown{}, flowPurgeSignal{}, flowPurgeStep{}, flowPurgeWait{}, flowPut{}, flowReopen{}, flowReopenSignals{}, flowSignalPut{}, flowSignalled{}, flowStop{},
		flowWaitOver{}, flowWaitPut{}, flowWake{},
		generationLeases{}, generationSkipIDs{}, generationRaise{}, generationRead{}, generationWaiters{}, generationWorkers{},
		inboxFailedInQueue{}, inboxHasStatus{}, inboxInProgress{}, inboxKill{}, inboxMismatch{}, op.InboxFail{}, op.InboxRevive{}, op.InboxSee{},
		op.InboxTake{}, op.InboxTakeDone{},
		jobAdvance{}, jobClaimable{}, jobClaimed{}, jobForget{}, jobForgetRun{}, jobID{}, jobPending{}, jobPutRow{}, jobRecord{}, jobRunLast{},
		jobRunMessage{}, jobRunReady{}, jobSuspects{}, op.JobDisable{}, op.JobEnable{}, op.JobSettle{},
		joinAttachNewOne{}, joinAttachOne{}, joinDetachOne{}, joinMarkFailed{}, joinMember{}, joinOwnWait{}, joinPendingUntil{}, joinPurgeFind{},
		joinPurgeJoin{}, joinPurgeMembers{}, joinPurgeResults{}, joinPurgeWaits{}, joinResultPut{}, joinStep{}, outboxResultPut{}, joinWaitParked{},
		joinWaitReplaced{}, op.JoinEnd{}, op.JoinMark{}, op.JoinRedrive{},
		joinAdd{}, joinAwaited{}, joinPending{}, joinReopen{}, joinReopenMembers{}, joinStepSettled{}, joinSteps{}, joinWake{},
		op.LeaseForce{},
		limitAdvance{}, limitAhead{}, limitAsk{}, limitBy{}, limitDropPattern{}, limitDropTopics{}, limitFind{}, limitFindPattern{}, limitForget{},
		limitHold{}, limitHoldClaimed{}, limitHoldNone{}, limitLive{}, limitPatterns{}, limitPurgeClaims{}, limitPurgeLanes{}, limitPurgeTopics{},
		limitTopics{}, limitUnask{}, limitWaits{}, op.LimitPut{}, op.LimitRemove{}, outboxLimitLane{}, outboxRunTopics{}, outboxUnderLimit{},
		outboxReserve{}, outboxEnqueueMessage{}, outboxEnqueueMessageOnce{}, outboxDeleteMessage{}, outboxReadyInsert{}, outboxExceptionUpsert{},
		outboxEraseError{}, outboxEraseFailed{}, outboxEraseJoinResults{}, outboxEraseMessage{}, outboxEraseUnique{}, outboxOrphans{}, outboxQueues{},
		outboxClaimCut{}, outboxClaimDue{}, outboxClaimInsert{}, outboxClaimLanes{}, outboxClaimMessages{}, outboxClaimPick{}, outboxSuspectsDue{},
		outboxSuspectsPick{}, outboxStopOver{}, outboxStopPut{}, outboxWithdrawDelete{}, outboxWithdrawFind{},
		outboxTakeFind{}, outboxTakeDelete{}, outboxDoneInsert{}, activityCountRun{}, outboxReapDue{}, outboxReapFind{}, outboxReapKept{},
		outboxAttemptInsert{}, outboxAttemptTrim{},
		outboxDeadEnded{}, outboxDeadFind{}, outboxRedriveOne{}, outboxDiscardOne{}, outboxUndiscardOne{}, jobFollowRun{}, outboxRescheduleException{},
		outboxRetopicOne{}, outboxRetopicFailed{}, outboxRetopicLane{}, outboxPurgeDone{}, outboxPurgeDead{}, outboxPurgeMessages{}, outboxPurgeExceptions{},
		outboxPurgeAttempts{}, outboxPurgeResults{}, outboxPurgeRun{},
		outboxOrderPick{}, outboxOrderKeys{}, outboxOrderHead{}, outboxOrderNext{}, outboxOrderInsert{}, outboxOrderLead{}, outboxOrderEnd{}, outboxOrderHeads{},
		outboxOrderDelete{}, outboxOrderMove{}, outboxReadyEnqueue{}, outboxMessageLane{},
		outboxUniquePut{}, outboxUniqueTake{}, outboxUniqueFind{}, outboxUniqueKnown{}, outboxUniqueUsed{}, outboxPurgeUnique{}, outboxPurgeUniqueKeep{},
		outboxPurgeUniqueOver{},
		outboxBulkTake{}, outboxBulkStepped{}, op.OutboxBulkStop{},
		pauseEndQueue{}, pauseEndTopic{}, pauseForget{}, pauseLane{}, pauseUnparkGone{}, op.PausePut{}, op.PauseUnpark{},
		timerAbandonOne{}, timerAckOne{}, timerClaimable{}, timerClaimed{}, timerClaimRows{}, timerDetachKey{}, timerDispatchDue{}, timerDispatchKnown{},
		timerDispatchMessages{}, timerDispatchOver{}, timerDue{}, timerFailOne{}, timerInsert{}, timerKnown{}, timerMovePosition{}, timerReapDue{},
		timerReapRows{}, timerSuspects{}, op.TimerCancel{}, op.TimerCancelKey{}, op.TimerReschedule{},
	}
}
