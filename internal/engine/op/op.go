// Package op declares every operation of a database that a component calls: a struct with a
// field for each parameter, which embeds the type of its result. Its statement is in this
// folder if it is the same text on every engine, and otherwise in the engines' folders: see
// CONTRIBUTING.md.
package op

import (
	"embed"

	"github.com/bravellian/pawl/internal/engine"
)

// Statements has the statements that are the same text on every engine, and the macros.
//
//go:embed activity audit declared doctor explain health inbox job join lease limit macros move outbox pause timer worker
var Statements embed.FS

// All returns all operations, each with zero fields.
func All() []engine.Operation {
	return []engine.Operation{
		ActivityCount{}, ActivityExtent{}, ActivityList{}, ActivityPurge{}, ActivityPut{}, ActivityTrouble{}, ActivityWaiting{},
		AuditList{}, AuditNote{}, AuditPurge{},
		BacklogCounts{}, BacklogMessages{},
		ClockNow{},
		DeclaredAdd{}, DeclaredForget{}, DeclaredList{},
		DoctorAdopt{}, DoctorClaims{}, DoctorLeases{}, DoctorMessages{}, DoctorNowhere{}, DoctorPlace{}, DoctorQueues{}, DoctorRuns{}, DoctorWrite{},
		DoctorJoinHold{}, DoctorJoinLock{}, DoctorJoinMissed{}, DoctorJoinParked{}, DoctorJoinRecount{}, DoctorJoinSettle{}, DoctorJoinWake{}, DoctorJoins{},
		DoctorLineRepair{}, DoctorLines{}, DoctorStrays{},
		ExplainAhead{}, ExplainPlace{}, ExplainWaits{},
		FleetPoll{},
		FlowKeep{}, FlowLoad{}, FlowPark{}, FlowPutSignal{}, FlowShow{},
		GenerationCheck{}, GenerationRestored{},
		HealthActivity{}, HealthTables{}, HealthWaiting{},
		InboxDone{}, InboxExtend{}, InboxFail{}, InboxGet{}, InboxList{}, InboxListDead{}, InboxListProcessing{}, InboxListSource{}, InboxMark{}, InboxPurge{},
		InboxRelease{}, InboxRevive{}, InboxSee{}, InboxStuck{}, InboxTake{}, InboxTakeDone{},
		JobClaim{}, JobDefer{}, JobDelete{}, JobDisable{}, JobDue{}, JobEnable{}, JobFire{}, JobGet{}, JobList{}, JobNextDue{}, JobPlan{}, JobPurge{}, JobPut{}, JobRun{},
		JobRuns{}, JobSettle{}, JobStart{}, JobTrigger{},
		JoinAttach{}, JoinAttachNew{}, JoinCancel{}, JoinEnd{}, JoinForgive{}, JoinGet{}, JoinKnown{}, JoinList{}, JoinListGroup{}, JoinListStatus{},
		JoinHold{}, JoinMark{}, JoinMembers{}, JoinOf{}, JoinPark{}, JoinPurge{}, JoinRedrive{}, JoinReport{}, JoinResults{}, JoinStart{}, JoinUncompleted{},
		JoinWait{}, JoinWaits{},
		LeaseAcquire{}, LeaseWake{}, LeaseJoin{}, LeaseForce{}, LeaseGet{}, LeaseGuard{}, LeaseLeave{}, LeaseList{}, LeaseRelease{}, LeaseRenew{},
		LeasePrune{}, LeaseTurn{},
		LimitDeclare{}, LimitFor{}, LimitList{}, LimitPut{}, LimitRemove{}, LimitUse{},
		MoveAhead{}, MoveClear{}, MoveCopied{}, MoveForget{}, MovePut{}, MoveReach{}, MoveRead{}, MoveTables{}, MoveTouch{},
		OutboxAdopt{}, OutboxClaim{}, OutboxClaimAny{}, OutboxClaimSuspects{}, OutboxEnqueue{}, OutboxEnqueueClaimed{}, OutboxEnqueueOnce{},
		OutboxEnqueueUnique{}, OutboxLane{}, OutboxLanes{}, OutboxNextDue{}, OutboxPurge{}, OutboxReap{}, OutboxSuspects{},
		OutboxAbandon{}, OutboxAck{}, OutboxAckOne{}, OutboxExtend{}, OutboxFail{}, OutboxPark{}, OutboxRelease{},
		OutboxAcked{}, OutboxAttempts{}, OutboxCounts{}, OutboxFailures{}, OutboxFind{}, OutboxGet{}, OutboxListClaimed{}, OutboxListClaimedFloor{},
		OutboxListDead{}, OutboxListDeadFloor{}, OutboxListReady{}, OutboxListReadyFloor{}, OutboxListRecent{}, OutboxListRecentFloor{}, OutboxOver{},
		OutboxCancel{}, OutboxCountDead{}, OutboxDiscard{}, OutboxRedrive{}, OutboxReschedule{}, OutboxRetopic{}, OutboxUndiscard{},
		OutboxErase{}, OutboxStop{}, OutboxStopEnd{}, OutboxStopping{}, OutboxWaiting{},
		OutboxBulkDue{}, OutboxBulkNextDue{}, OutboxBulkPurge{}, OutboxBulkPut{}, OutboxBulks{}, OutboxBulkStep{}, OutboxBulkStop{},
		PauseEnd{}, PauseList{}, PausePut{}, PauseUnpark{},
		TimerAbandon{}, TimerAck{}, TimerCancel{}, TimerCancelKey{}, TimerClaim{}, TimerDispatch{}, TimerFail{}, TimerFind{}, TimerGet{}, TimerListClaimed{},
		TimerListOver{}, TimerListPending{}, TimerNextDue{}, TimerPurge{}, TimerReap{}, TimerReschedule{}, TimerSchedule{},
		WorkerHeartbeat{}, WorkerLeave{}, WorkerList{}, WorkerPrune{},
	}
}

// Note is what an operation records in the audit trail, where it changed anything. The zero
// value records nothing.
type Note struct {
	ID     *[16]byte // of the action, which may take several operations
	Actor  string    `text:"any"`
	Target string    `text:"any"`
	Reason *string   `text:"any"`
}
