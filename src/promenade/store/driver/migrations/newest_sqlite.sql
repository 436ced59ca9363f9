CREATE TABLE a_b_test_results (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	control_avg_basket BIGINT,
	experiment_avg_basket BIGINT,
	revenue_uplift BIGINT,
	revenue_t_statistic BIGINT,
	revenue_p_value BIGINT,
	revenue_is_significant BOOLEAN,
	control_conversion_rate BIGINT,
	experiment_conversion_rate BIGINT,
	uplift BIGINT,
	chi_squared BIGINT,
	p_value BIGINT,
	is_significant BOOLEAN,
	trial VARCHAR(30) NOT NULL,
	control_transactions BIGINT NOT NULL,
	experiment_transactions BIGINT NOT NULL,
	control_conversions BIGINT NOT NULL,
	experiment_conversions BIGINT NOT NULL,
	total_discount BIGINT,
	past_from DATE,
	past_to DATE,
	past_days INTEGER,
	control_past_avg_basket BIGINT,
	experiment_past_avg_basket BIGINT,
	adjusted_uplift BIGINT,
	adjusted_p_value BIGINT,
	adjusted_is_significant BOOLEAN,
	revenue_uplift_low BIGINT,
	revenue_uplift_high BIGINT,
	adjusted_uplift_low BIGINT,
	adjusted_uplift_high BIGINT,
	significance_level BIGINT,
	computed_at BIGINT NOT NULL,
	kept_name VARCHAR(255),
	currency VARCHAR(3),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_a_b_test_results__key PRIMARY KEY (tenant_id, promotion_id),
	CONSTRAINT ck_a_b_test_results__control_conversion_rate_min CHECK (control_conversion_rate >= 0),
	CONSTRAINT ck_a_b_test_results__control_conversion_rate_max CHECK (control_conversion_rate <= 10000),
	CONSTRAINT ck_a_b_test_results__experiment_conversion_rate_min CHECK (experiment_conversion_rate >= 0),
	CONSTRAINT ck_a_b_test_results__experiment_conversion_rate_max CHECK (experiment_conversion_rate <= 10000)
);

CREATE TABLE a_b_test_results_by_currency (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	control_avg_basket BIGINT,
	experiment_avg_basket BIGINT,
	revenue_uplift BIGINT,
	revenue_t_statistic BIGINT,
	revenue_p_value BIGINT,
	revenue_is_significant BOOLEAN,
	control_conversion_rate BIGINT,
	experiment_conversion_rate BIGINT,
	uplift BIGINT,
	chi_squared BIGINT,
	p_value BIGINT,
	is_significant BOOLEAN,
	currency VARCHAR(3) NOT NULL,
	trial VARCHAR(30) NOT NULL,
	control_transactions BIGINT NOT NULL,
	experiment_transactions BIGINT NOT NULL,
	control_conversions BIGINT NOT NULL,
	experiment_conversions BIGINT NOT NULL,
	total_discount BIGINT,
	past_from DATE,
	past_to DATE,
	past_days INTEGER,
	control_past_avg_basket BIGINT,
	experiment_past_avg_basket BIGINT,
	adjusted_uplift BIGINT,
	adjusted_p_value BIGINT,
	adjusted_is_significant BOOLEAN,
	revenue_uplift_low BIGINT,
	revenue_uplift_high BIGINT,
	adjusted_uplift_low BIGINT,
	adjusted_uplift_high BIGINT,
	significance_level BIGINT,
	computed_at BIGINT NOT NULL,
	kept_name VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_a_b_test_results_by_currency__key PRIMARY KEY (tenant_id, promotion_id, currency),
	CONSTRAINT ck_a_b_test_results_by_currency__control_conversion_rate_min CHECK (control_conversion_rate >= 0),
	CONSTRAINT ck_a_b_test_results_by_currency__control_conversion_rate_max CHECK (control_conversion_rate <= 10000),
	CONSTRAINT ck_a_b_test_results_by_currency__experiment_conversion_rate_min CHECK (experiment_conversion_rate >= 0),
	CONSTRAINT ck_a_b_test_results_by_currency__experiment_conversion_rate_max CHECK (experiment_conversion_rate <= 10000)
);

CREATE TABLE advice_converted (
	tenant_id VARCHAR(36) NOT NULL,
	kind VARCHAR(10) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) NOT NULL,
	converted BIGINT NOT NULL,
	extra_revenue BIGINT NOT NULL,
	total_discount BIGINT NOT NULL,
	CONSTRAINT pk_advice_converted__key PRIMARY KEY (tenant_id, kind, promotion_id, day, currency)
);

CREATE TABLE advice_open (
	tenant_id VARCHAR(36) NOT NULL,
	customer_id VARCHAR(50) NOT NULL,
	kind VARCHAR(10) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) NOT NULL,
	grand_total BIGINT NOT NULL,
	shown_at BIGINT NOT NULL,
	CONSTRAINT pk_advice_open__key PRIMARY KEY (tenant_id, customer_id, kind, promotion_id)
);

CREATE INDEX ix_advice_open__age ON advice_open (shown_at);

CREATE TABLE advice_shown (
	tenant_id VARCHAR(36) NOT NULL,
	kind VARCHAR(10) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) NOT NULL,
	promotion_name VARCHAR(255) NOT NULL,
	shown BIGINT NOT NULL,
	CONSTRAINT pk_advice_shown__key PRIMARY KEY (tenant_id, kind, promotion_id, day, currency)
);

CREATE INDEX ix_advice_shown__day ON advice_shown (tenant_id, kind, day);

CREATE TABLE advice_walk (
	id INTEGER NOT NULL,
	place TEXT NOT NULL,
	CONSTRAINT pk_advice_walk__key PRIMARY KEY (id)
);

CREATE TABLE aggregator_runs (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	name VARCHAR(50) NOT NULL,
	started_at BIGINT NOT NULL,
	completed_at BIGINT,
	rows BIGINT NOT NULL,
	status VARCHAR(30) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_aggregator_runs__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_aggregator_runs__name_started_at ON aggregator_runs (tenant_id, name, started_at);

CREATE INDEX ix_aggregator_runs__started_at ON aggregator_runs (tenant_id, started_at);

CREATE TABLE arm_days (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) NOT NULL,
	trial VARCHAR(10) NOT NULL,
	promotion_name VARCHAR(255),
	treated_transactions BIGINT NOT NULL,
	treated_revenue BIGINT NOT NULL,
	treated_squares_0 BIGINT NOT NULL,
	treated_squares_1 BIGINT NOT NULL,
	treated_squares_2 BIGINT NOT NULL,
	treated_conversions BIGINT NOT NULL,
	treated_discount BIGINT NOT NULL,
	control_transactions BIGINT NOT NULL,
	control_revenue BIGINT NOT NULL,
	control_squares_0 BIGINT NOT NULL,
	control_squares_1 BIGINT NOT NULL,
	control_squares_2 BIGINT NOT NULL,
	control_conversions BIGINT NOT NULL,
	extra_revenue BIGINT,
	is_stale BOOLEAN NOT NULL,
	CONSTRAINT pk_arm_days__key PRIMARY KEY (tenant_id, promotion_id, day, currency)
);

CREATE INDEX ix_arm_days__day ON arm_days (tenant_id, day);

CREATE INDEX ix_arm_days__stale ON arm_days (tenant_id, promotion_id) WHERE is_stale;

CREATE TABLE arm_trials (
	tenant_id VARCHAR(36) NOT NULL,
	catalogue BIGINT NOT NULL,
	read_at BIGINT NOT NULL,
	since BIGINT NOT NULL,
	until BIGINT NOT NULL,
	trials BLOB NOT NULL,
	CONSTRAINT pk_arm_trials__key PRIMARY KEY (tenant_id)
);

CREATE TABLE arm_utc_days (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) NOT NULL,
	trial VARCHAR(10) NOT NULL,
	promotion_name VARCHAR(255),
	treated_transactions BIGINT NOT NULL,
	treated_revenue BIGINT NOT NULL,
	treated_squares_0 BIGINT NOT NULL,
	treated_squares_1 BIGINT NOT NULL,
	treated_squares_2 BIGINT NOT NULL,
	treated_conversions BIGINT NOT NULL,
	treated_discount BIGINT NOT NULL,
	control_transactions BIGINT NOT NULL,
	control_revenue BIGINT NOT NULL,
	control_squares_0 BIGINT NOT NULL,
	control_squares_1 BIGINT NOT NULL,
	control_squares_2 BIGINT NOT NULL,
	control_conversions BIGINT NOT NULL,
	CONSTRAINT pk_arm_utc_days__key PRIMARY KEY (tenant_id, promotion_id, day, currency)
);

CREATE TABLE article_groups (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	group_id VARCHAR(20) NOT NULL,
	name VARCHAR(255),
	description VARCHAR(1000),
	type VARCHAR(30) NOT NULL,
	source VARCHAR(30) NOT NULL,
	never_discounted VARCHAR(30),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	parent_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_article_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_article_groups__parent_id FOREIGN KEY(tenant_id, parent_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT uq_article_groups__group_id UNIQUE (tenant_id, group_id)
);

CREATE INDEX ix_article_groups__parent_id ON article_groups (tenant_id, parent_id);

CREATE TABLE article_import_jobs (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	name VARCHAR(255),
	status VARCHAR(30) NOT NULL,
	total_articles INTEGER NOT NULL,
	processed_articles INTEGER NOT NULL,
	failed_articles INTEGER NOT NULL,
	started_at BIGINT,
	completed_at BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_article_import_jobs__key PRIMARY KEY (tenant_id, id)
);

CREATE TABLE audit_logs (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	timestamp BIGINT NOT NULL,
	actor VARCHAR(255) NOT NULL,
	agent VARCHAR(100),
	action VARCHAR(50) NOT NULL,
	entity_type VARCHAR(50) NOT NULL,
	entity_id VARCHAR(50) NOT NULL,
	entity_name VARCHAR(255) NOT NULL,
	note VARCHAR(2000),
	owner_type VARCHAR(50) NOT NULL,
	owner_id VARCHAR(50) NOT NULL,
	owner_name VARCHAR(255) NOT NULL,
	changes TEXT,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_audit_logs__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_audit_logs__entity_type_entity_id_timestamp ON audit_logs (tenant_id, entity_type, entity_id, timestamp);

CREATE INDEX ix_audit_logs__owner_type_owner_id_timestamp ON audit_logs (tenant_id, owner_type, owner_id, timestamp);

CREATE INDEX ix_audit_logs__timestamp ON audit_logs (tenant_id, timestamp);

CREATE TABLE authorization_codes (
	code_hash VARCHAR(64) NOT NULL,
	client_id VARCHAR(100) NOT NULL,
	session_id VARCHAR(36),
	redirect_uri VARCHAR(2000) NOT NULL,
	challenge VARCHAR(43) NOT NULL,
	ends_at BIGINT NOT NULL,
	CONSTRAINT pk_authorization_codes__key PRIMARY KEY (code_hash)
);

CREATE TABLE basket_days (
	tenant_id VARCHAR(36) NOT NULL,
	pos_group_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) NOT NULL,
	transactions BIGINT NOT NULL,
	revenue BIGINT NOT NULL,
	squares_0 BIGINT NOT NULL,
	squares_1 BIGINT NOT NULL,
	squares_2 BIGINT NOT NULL,
	is_stale BOOLEAN NOT NULL,
	CONSTRAINT pk_basket_days__key PRIMARY KEY (tenant_id, pos_group_id, day, currency)
);

CREATE INDEX ix_basket_days__stale ON basket_days (tenant_id, day) WHERE is_stale;

CREATE TABLE budget_promotion_utc_days (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	budget_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	consumed BIGINT NOT NULL,
	uncovered BIGINT NOT NULL,
	transactions BIGINT NOT NULL,
	CONSTRAINT pk_budget_promotion_utc_days__key PRIMARY KEY (tenant_id, promotion_id, budget_id, day)
);

CREATE TABLE budget_requests (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	promotion_name VARCHAR(255),
	amount BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	reason VARCHAR(1000),
	status VARCHAR(30) NOT NULL,
	asked_at BIGINT,
	asked_by VARCHAR(255),
	answered_at BIGINT,
	answered_by VARCHAR(255),
	answer VARCHAR(1000),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36) NOT NULL,
	budget_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budget_requests__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_budget_requests__amount_min CHECK (amount >= 1)
);

CREATE INDEX ix_budget_requests__promotion_id_status ON budget_requests (tenant_id, promotion_id, status);

CREATE INDEX ix_budget_requests__status_asked_at ON budget_requests (tenant_id, status, asked_at);

CREATE TABLE budget_totals (
	tenant_id VARCHAR(36) NOT NULL,
	budget_id VARCHAR(36) NOT NULL,
	consumed BIGINT NOT NULL,
	uncovered BIGINT NOT NULL,
	transactions BIGINT NOT NULL,
	first_at BIGINT NOT NULL,
	last_at BIGINT NOT NULL,
	changed BOOLEAN NOT NULL,
	daily_burn BIGINT,
	reckoned_at BIGINT,
	CONSTRAINT pk_budget_totals__key PRIMARY KEY (tenant_id, budget_id)
);

CREATE TABLE budget_utc_days (
	tenant_id VARCHAR(36) NOT NULL,
	budget_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	consumed BIGINT NOT NULL,
	uncovered BIGINT NOT NULL,
	transactions BIGINT NOT NULL,
	CONSTRAINT pk_budget_utc_days__key PRIMARY KEY (tenant_id, budget_id, day)
);

CREATE TABLE budgets (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50) NOT NULL,
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	status VARCHAR(30) NOT NULL,
	total_amount BIGINT NOT NULL,
	consumed_amount BIGINT NOT NULL,
	reserved_amount BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	valid_from BIGINT,
	valid_to BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budgets__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_budgets__total_amount_min CHECK (total_amount >= 0),
	CONSTRAINT uq_budgets__code UNIQUE (tenant_id, code),
	CONSTRAINT ck_budgets__covered CHECK (consumed_amount >= 0 AND reserved_amount >= 0 AND consumed_amount + reserved_amount <= total_amount)
);

CREATE INDEX ix_budgets__status_valid_to ON budgets (tenant_id, status, valid_to);

CREATE TABLE cache_keys (
	purpose VARCHAR(20) NOT NULL,
	secret BLOB NOT NULL,
	created_at BIGINT NOT NULL,
	CONSTRAINT pk_cache_keys__key PRIMARY KEY (purpose)
);

CREATE TABLE calculation_log_blocks (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	block INTEGER NOT NULL,
	log_id VARCHAR(36) NOT NULL,
	CONSTRAINT pk_calculation_log_blocks__key PRIMARY KEY (tenant_id, promotion_id, block, log_id)
)
 WITHOUT ROWID;

CREATE TABLE calculation_logs (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	transaction_id VARCHAR(50) NOT NULL,
	transaction_counter INTEGER NOT NULL,
	receipt_id VARCHAR(50),
	header_reference VARCHAR(100),
	customer_id VARCHAR(50),
	channel VARCHAR(50),
	status VARCHAR(30) NOT NULL,
	pilot_arm VARCHAR(30),
	subtotal BIGINT NOT NULL,
	discount BIGINT NOT NULL,
	grand_total BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	loyalty_points BIGINT NOT NULL,
	discrepancy BOOLEAN NOT NULL,
	evaluated_at BIGINT NOT NULL,
	confirmed_at BIGINT NOT NULL,
	source VARCHAR(20) NOT NULL,
	instance_id VARCHAR(36),
	message VARCHAR(1000),
	origin VARCHAR(36) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	pos_group_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_calculation_logs__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_calculation_logs__confirmed_at ON calculation_logs (tenant_id, confirmed_at);

CREATE INDEX ix_calculation_logs__customer_id_confirmed_at ON calculation_logs (tenant_id, customer_id, confirmed_at);

CREATE INDEX ix_calculation_logs__pos_group_id ON calculation_logs (tenant_id, pos_group_id);

CREATE INDEX ix_calculation_logs__transaction_id_origin_transaction_counter ON calculation_logs (tenant_id, transaction_id, origin, transaction_counter);

CREATE TABLE cancellations (
	tenant_id VARCHAR(36) NOT NULL,
	origin VARCHAR(36) NOT NULL,
	transaction_id VARCHAR(50) NOT NULL,
	transaction_counter INTEGER NOT NULL,
	id VARCHAR(36) NOT NULL,
	reason VARCHAR(255),
	response BLOB NOT NULL,
	log_id VARCHAR(36),
	cancelled_at BIGINT NOT NULL,
	reported BOOLEAN NOT NULL,
	CONSTRAINT pk_cancellations__key PRIMARY KEY (tenant_id, origin, transaction_id)
);

CREATE INDEX ix_cancellations__unreported ON cancellations (tenant_id, cancelled_at) WHERE NOT reported;

CREATE TABLE catalogue_changes (
	tenant_id VARCHAR(36) NOT NULL,
	kind VARCHAR(30) NOT NULL,
	version BIGINT NOT NULL,
	entity_id VARCHAR(50) NOT NULL,
	others BLOB,
	CONSTRAINT pk_catalogue_changes__key PRIMARY KEY (tenant_id, kind, version, entity_id)
);

CREATE TABLE catalogue_versions (
	tenant_id VARCHAR(36) NOT NULL,
	promotions BIGINT NOT NULL,
	articles BIGINT NOT NULL,
	changed_at BIGINT,
	CONSTRAINT pk_catalogue_versions__key PRIMARY KEY (tenant_id)
);

CREATE TABLE clients (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	client_id VARCHAR(100) NOT NULL,
	name VARCHAR(255),
	scopes TEXT NOT NULL,
	secret_digest VARCHAR(64),
	is_active BOOLEAN NOT NULL,
	rotated_at BIGINT,
	former_digest VARCHAR(64),
	former_until BIGINT,
	enrolment_digest VARCHAR(64),
	enrolment_until BIGINT,
	tokens_from BIGINT,
	last_used_at BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_clients__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_clients__code UNIQUE (tenant_id, code),
	CONSTRAINT uq_clients__client_id UNIQUE (client_id)
);

CREATE TABLE clockwork (
	name VARCHAR(60) NOT NULL,
	due_at BIGINT NOT NULL,
	last_run_at BIGINT,
	cursor VARCHAR(1000),
	last_error VARCHAR(1000),
	lease_owner VARCHAR(100),
	lease_until BIGINT,
	CONSTRAINT pk_clockwork__key PRIMARY KEY (name)
);

CREATE TABLE confirmations (
	tenant_id VARCHAR(36) NOT NULL,
	origin VARCHAR(36) NOT NULL,
	transaction_id VARCHAR(50) NOT NULL,
	transaction_counter INTEGER NOT NULL,
	fingerprint BLOB NOT NULL,
	response BLOB NOT NULL,
	log_id VARCHAR(36),
	sale BLOB,
	returned BLOB,
	confirmed_at BIGINT NOT NULL,
	CONSTRAINT pk_confirmations__key PRIMARY KEY (tenant_id, transaction_id, origin)
);

CREATE TABLE coupon_claims (
	tenant_id VARCHAR(36) NOT NULL,
	coupon_code_id VARCHAR(36) NOT NULL,
	slot INTEGER NOT NULL,
	coupon_type_id VARCHAR(36) NOT NULL,
	origin VARCHAR(36) NOT NULL,
	transaction_id VARCHAR(50) NOT NULL,
	transaction_counter INTEGER,
	customer_id VARCHAR(50),
	promotion_id VARCHAR(36),
	claimed_at BIGINT NOT NULL,
	redeemed_at BIGINT,
	CONSTRAINT pk_coupon_claims__key PRIMARY KEY (tenant_id, coupon_code_id, slot)
);

CREATE INDEX ix_coupon_claims__customer_id ON coupon_claims (tenant_id, customer_id) WHERE customer_id IS NOT NULL;

CREATE INDEX ix_coupon_claims__transaction ON coupon_claims (tenant_id, origin, transaction_id);

CREATE TABLE coupon_reservations (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	coupon_type_id VARCHAR(36) NOT NULL,
	coupon_code_id VARCHAR(36),
	transaction_id VARCHAR(50) NOT NULL,
	customer_id VARCHAR(50),
	state VARCHAR(10) NOT NULL,
	reserved_at BIGINT NOT NULL,
	reserved_until BIGINT NOT NULL,
	ended_at BIGINT,
	CONSTRAINT pk_coupon_reservations__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_reservations__state CHECK (state IN ('HELD', 'REDEEMED', 'CANCELLED'))
);

CREATE INDEX ix_coupon_reservations__customer_id ON coupon_reservations (tenant_id, customer_id) WHERE customer_id IS NOT NULL;

CREATE INDEX ix_coupon_reservations__live ON coupon_reservations (tenant_id, coupon_type_id, state, reserved_until);

CREATE TABLE coupon_type_counts (
	tenant_id VARCHAR(36) NOT NULL,
	coupon_type_id VARCHAR(36) NOT NULL,
	issued BIGINT NOT NULL,
	pooled BIGINT NOT NULL,
	created BIGINT NOT NULL,
	active BIGINT NOT NULL,
	reserved BIGINT NOT NULL,
	redeemed BIGINT NOT NULL,
	expired BIGINT NOT NULL,
	cancelled BIGINT NOT NULL,
	external BIGINT NOT NULL,
	examined_at BIGINT NOT NULL,
	counted_at BIGINT NOT NULL,
	CONSTRAINT pk_coupon_type_counts__key PRIMARY KEY (tenant_id, coupon_type_id)
);

CREATE TABLE coupon_types (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50) NOT NULL,
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	status VARCHAR(30) NOT NULL,
	code_type VARCHAR(30) NOT NULL,
	generic_code VARCHAR(64),
	valid_from BIGINT,
	valid_to BIGINT,
	validity_days INTEGER,
	max_redemptions INTEGER,
	max_redemptions_per_customer INTEGER,
	reservation_minutes INTEGER NOT NULL,
	requires_activation BOOLEAN NOT NULL,
	on_return VARCHAR(30) NOT NULL,
	earned_on_return VARCHAR(30) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_types__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_types__validity_days_min CHECK (validity_days >= 0),
	CONSTRAINT ck_coupon_types__max_redemptions_min CHECK (max_redemptions >= 0),
	CONSTRAINT ck_coupon_types__max_redemptions_per_customer_min CHECK (max_redemptions_per_customer >= 0),
	CONSTRAINT ck_coupon_types__reservation_minutes_min CHECK (reservation_minutes >= 1),
	CONSTRAINT uq_coupon_types__code UNIQUE (tenant_id, code),
	CONSTRAINT uq_coupon_types__generic_code UNIQUE (tenant_id, generic_code)
);

CREATE TABLE coupon_usage (
	tenant_id VARCHAR(36) NOT NULL,
	coupon_type_id VARCHAR(36) NOT NULL,
	customer_id VARCHAR(50) NOT NULL,
	count INTEGER NOT NULL,
	CONSTRAINT pk_coupon_usage__key PRIMARY KEY (tenant_id, coupon_type_id, customer_id),
	CONSTRAINT ck_coupon_usage__count CHECK (count >= 0)
);

CREATE INDEX ix_coupon_usage__customer_id ON coupon_usage (tenant_id, customer_id, coupon_type_id);

CREATE TABLE customer_erasure_keys (
	tenant_id VARCHAR(36) NOT NULL,
	secret BLOB NOT NULL,
	created_at BIGINT NOT NULL,
	cloud_secret BLOB,
	cloud_cursor VARCHAR(200),
	cloud_walk INTEGER,
	cloud_told BIGINT,
	cloud_searched BIGINT,
	CONSTRAINT pk_customer_erasure_keys__key PRIMARY KEY (tenant_id)
);

CREATE TABLE customer_erasures (
	tenant_id VARCHAR(36) NOT NULL,
	digest VARCHAR(64) NOT NULL,
	id VARCHAR(36) NOT NULL,
	customer_id VARCHAR(50),
	pseudonym VARCHAR(50),
	status VARCHAR(10) NOT NULL,
	requested_at BIGINT NOT NULL,
	due_at BIGINT NOT NULL,
	completed_at BIGINT,
	changed_rows BIGINT NOT NULL,
	cloud_walk INTEGER,
	idle_since BIGINT,
	CONSTRAINT pk_customer_erasures__key PRIMARY KEY (tenant_id, digest),
	CONSTRAINT ck_customer_erasures__status CHECK (status IN ('PENDING', 'COMPLETED'))
);

CREATE INDEX ix_customer_erasures__due ON customer_erasures (due_at) WHERE status = 'PENDING';

CREATE INDEX ix_customer_erasures__requested_at ON customer_erasures (tenant_id, requested_at, digest);

CREATE TABLE customer_groups (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50) NOT NULL,
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_customer_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_customer_groups__code UNIQUE (tenant_id, code)
);

CREATE TABLE drafts (
	tenant_id VARCHAR(36) NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	set_name VARCHAR(60) NOT NULL,
	root_id VARCHAR(36) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255) NOT NULL,
	changed_at BIGINT NOT NULL,
	CONSTRAINT pk_drafts__key PRIMARY KEY (tenant_id, draft_uuid),
	CONSTRAINT uq_drafts__root UNIQUE (tenant_id, set_name, root_id)
);

CREATE INDEX ix_drafts__changed_at ON drafts (tenant_id, changed_at);

CREATE TABLE forecast_customers (
	tenant_id VARCHAR(36) NOT NULL,
	forecast_id VARCHAR(36) NOT NULL,
	customer_id VARCHAR(50) NOT NULL,
	sales INTEGER NOT NULL,
	CONSTRAINT pk_forecast_customers__key PRIMARY KEY (tenant_id, forecast_id, customer_id)
);

CREATE TABLE forecast_jobs (
	tenant_id VARCHAR(36) NOT NULL,
	forecast_id VARCHAR(36) NOT NULL,
	slot INTEGER NOT NULL,
	"plan" BLOB NOT NULL,
	tally BLOB NOT NULL,
	recorded_until BIGINT NOT NULL,
	cursor_at BIGINT,
	cursor_id VARCHAR(36),
	due_at BIGINT NOT NULL,
	attempts INTEGER NOT NULL,
	lease_owner VARCHAR(100),
	lease_until BIGINT,
	CONSTRAINT pk_forecast_jobs__key PRIMARY KEY (tenant_id, forecast_id),
	CONSTRAINT uq_forecast_jobs__slot UNIQUE (tenant_id, slot)
);

CREATE TABLE group_roles (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	group_name VARCHAR(255) NOT NULL,
	description VARCHAR(255),
	scopes TEXT NOT NULL,
	issuer VARCHAR(500) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_group_roles__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_group_roles__issuer_group_name UNIQUE (tenant_id, issuer, group_name)
);

CREATE TABLE import_jobs (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	entity VARCHAR(50) NOT NULL,
	source VARCHAR(30) NOT NULL,
	status VARCHAR(30) NOT NULL,
	total_rows INTEGER NOT NULL,
	rows_succeeded INTEGER NOT NULL,
	rows_failed INTEGER NOT NULL,
	rows_skipped INTEGER NOT NULL,
	continue_on_error BOOLEAN NOT NULL,
	idempotency_key VARCHAR(255),
	callback_url VARCHAR(2000),
	started_at BIGINT,
	completed_at BIGINT,
	message VARCHAR(2000),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_import_jobs__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_import_jobs__completed_at ON import_jobs (tenant_id, completed_at);

CREATE INDEX ix_import_jobs__status_created_at ON import_jobs (tenant_id, status, created_at);

CREATE TABLE import_keys (
	tenant_id VARCHAR(36) NOT NULL,
	scope VARCHAR(20) NOT NULL,
	idempotency_key VARCHAR(255) NOT NULL,
	job_id VARCHAR(36) NOT NULL,
	digest BLOB,
	seen_at BIGINT NOT NULL,
	CONSTRAINT pk_import_keys__key PRIMARY KEY (tenant_id, scope, idempotency_key)
);

CREATE INDEX ix_import_keys__seen ON import_keys (seen_at);

CREATE TABLE import_parts (
	tenant_id VARCHAR(36) NOT NULL,
	job_id VARCHAR(36) NOT NULL,
	part INTEGER NOT NULL,
	first_row INTEGER NOT NULL,
	row_count INTEGER NOT NULL,
	row_numbers TEXT,
	rows BLOB NOT NULL,
	received_at BIGINT NOT NULL,
	CONSTRAINT pk_import_parts__key PRIMARY KEY (tenant_id, job_id, part)
);

CREATE INDEX ix_import_parts__received ON import_parts (received_at);

CREATE TABLE import_work (
	tenant_id VARCHAR(36) NOT NULL,
	job_id VARCHAR(36) NOT NULL,
	source VARCHAR(20) NOT NULL,
	user_name VARCHAR(255) NOT NULL,
	enqueued_at BIGINT NOT NULL,
	due_at BIGINT NOT NULL,
	next_part INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	lease_owner VARCHAR(36),
	lease_until BIGINT,
	CONSTRAINT pk_import_work__key PRIMARY KEY (tenant_id, job_id)
);

CREATE INDEX ix_import_work__due ON import_work (due_at);

CREATE INDEX ix_import_work__source ON import_work (tenant_id, source);

CREATE TABLE instances (
	instance_id VARCHAR(36) NOT NULL,
	edition VARCHAR(20) NOT NULL,
	version VARCHAR(20) NOT NULL,
	started_at BIGINT NOT NULL,
	seen_at BIGINT NOT NULL,
	CONSTRAINT pk_instances__key PRIMARY KEY (instance_id)
);

CREATE TABLE issue_keys (
	tenant_id VARCHAR(36) NOT NULL,
	idempotency_key VARCHAR(255) NOT NULL,
	digest BLOB NOT NULL,
	answer BLOB NOT NULL,
	seen_at BIGINT NOT NULL,
	CONSTRAINT pk_issue_keys__key PRIMARY KEY (tenant_id, idempotency_key)
);

CREATE INDEX ix_issue_keys__seen ON issue_keys (seen_at);

CREATE TABLE issue_windows (
	tenant_id VARCHAR(36) NOT NULL,
	issued BLOB NOT NULL,
	CONSTRAINT pk_issue_windows__key PRIMARY KEY (tenant_id)
);

CREATE TABLE iteration_counters (
	tenant_id VARCHAR(36) NOT NULL,
	origin VARCHAR(36) NOT NULL,
	transaction_id VARCHAR(50) NOT NULL,
	last_counter INTEGER NOT NULL,
	CONSTRAINT pk_iteration_counters__key PRIMARY KEY (tenant_id, origin, transaction_id)
)
 WITHOUT ROWID;

CREATE TABLE iterations (
	tenant_id VARCHAR(36) NOT NULL,
	origin VARCHAR(36) NOT NULL,
	transaction_id VARCHAR(50) NOT NULL,
	transaction_counter INTEGER NOT NULL,
	pos_group_id VARCHAR(36) NOT NULL,
	receipt_id VARCHAR(50),
	header_reference VARCHAR(100),
	evaluated_at BIGINT NOT NULL,
	data_age BIGINT,
	advice BLOB,
	record BLOB NOT NULL,
	base_counter INTEGER,
	created_at BIGINT NOT NULL,
	CONSTRAINT pk_iterations__key PRIMARY KEY (tenant_id, origin, transaction_id, transaction_counter)
);

CREATE INDEX ix_iterations__condemned ON iterations (created_at) WHERE transaction_counter < 0;

CREATE INDEX ix_iterations__created_at ON iterations (created_at) WHERE 0;

CREATE TABLE local_store (
	name VARCHAR(10) NOT NULL,
	tenant_id VARCHAR(36) NOT NULL,
	instance_id VARCHAR(36) NOT NULL,
	api_key VARCHAR(64) NOT NULL,
	password_hash VARCHAR(255),
	password_changed_at BIGINT,
	created_at BIGINT NOT NULL,
	CONSTRAINT pk_local_store__key PRIMARY KEY (name)
);

CREATE TABLE loyalty_balances (
	tenant_id VARCHAR(36) NOT NULL,
	customer_id VARCHAR(50) NOT NULL,
	points BIGINT NOT NULL,
	updated_at BIGINT,
	CONSTRAINT pk_loyalty_balances__key PRIMARY KEY (tenant_id, customer_id)
);

CREATE TABLE loyalty_tiers (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50) NOT NULL,
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_loyalty_tiers__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_loyalty_tiers__code UNIQUE (tenant_id, code)
);

CREATE TABLE loyalty_transactions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	customer_id VARCHAR(50) NOT NULL,
	transaction_id VARCHAR(50) NOT NULL,
	transaction_counter INTEGER NOT NULL,
	points BIGINT NOT NULL,
	balance_after BIGINT NOT NULL,
	awarded_at BIGINT NOT NULL,
	origin VARCHAR(36) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_loyalty_transactions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_loyalty_transactions__origin_transaction_id_transac_669b8138 UNIQUE (tenant_id, origin, transaction_id, transaction_counter, promotion_id)
);

CREATE INDEX ix_loyalty_transactions__customer_id_awarded_at ON loyalty_transactions (tenant_id, customer_id, awarded_at);

CREATE TABLE mutual_exclusion_groups (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50) NOT NULL,
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	resolution_strategy VARCHAR(30) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_mutual_exclusion_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_mutual_exclusion_groups__code UNIQUE (tenant_id, code)
);

CREATE TABLE notification_logs (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	event_id VARCHAR(36),
	event_type VARCHAR(60) NOT NULL,
	callback_url VARCHAR(2000) NOT NULL,
	status VARCHAR(30) NOT NULL,
	attempts INTEGER NOT NULL,
	http_status INTEGER,
	last_error VARCHAR(1000),
	response_body VARCHAR(1000),
	duration_in_ms INTEGER,
	last_attempt_at BIGINT,
	next_attempt_at BIGINT,
	delivered_at BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	subscription_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_notification_logs__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_notification_logs__event_id_subscription_id UNIQUE (tenant_id, event_id, subscription_id)
);

CREATE INDEX ix_notification_logs__created_at ON notification_logs (tenant_id, created_at);

CREATE INDEX ix_notification_logs__event_type_created_at ON notification_logs (tenant_id, event_type, created_at);

CREATE INDEX ix_notification_logs__status_created_at ON notification_logs (tenant_id, status, created_at);

CREATE INDEX ix_notification_logs__subscription_id_created_at ON notification_logs (tenant_id, subscription_id, created_at);

CREATE TABLE outbox_events (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	kind VARCHAR(60) NOT NULL,
	payload BLOB NOT NULL,
	callback_url VARCHAR(2000),
	created_at BIGINT NOT NULL,
	dispatched_at BIGINT,
	traceparent VARCHAR(55),
	CONSTRAINT pk_outbox_events__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_outbox_events__created ON outbox_events (tenant_id, created_at, kind);

CREATE INDEX ix_outbox_events__waiting ON outbox_events (created_at, id) WHERE dispatched_at IS NULL;

CREATE TABLE people (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	user_name VARCHAR(100) NOT NULL,
	name VARCHAR(255),
	scopes TEXT NOT NULL,
	invitation_digest VARCHAR(64),
	is_active BOOLEAN NOT NULL,
	code_required BOOLEAN NOT NULL,
	invited_until BIGINT,
	password_since BIGINT,
	code_since BIGINT,
	last_sign_in_at BIGINT,
	tokens_from BIGINT,
	password_hash VARCHAR(255),
	code_key VARCHAR(64),
	code_step INTEGER,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_people__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_people__user_name UNIQUE (tenant_id, user_name),
	CONSTRAINT uq_people__invitation_digest UNIQUE (invitation_digest)
);

CREATE TABLE person_sessions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	person_id VARCHAR(36) NOT NULL,
	secret_digest VARCHAR(64) NOT NULL,
	former_digest VARCHAR(64),
	former_until BIGINT,
	began_at BIGINT NOT NULL,
	renewed_at BIGINT NOT NULL,
	ends_at BIGINT NOT NULL,
	browser VARCHAR(40),
	CONSTRAINT pk_person_sessions__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_person_sessions__id ON person_sessions (id);

CREATE INDEX ix_person_sessions__person_id ON person_sessions (tenant_id, person_id);

CREATE TABLE pilot_tallies (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	basis VARCHAR(64) NOT NULL,
	begun_at BIGINT NOT NULL,
	counted_until BIGINT NOT NULL,
	sums BLOB NOT NULL,
	CONSTRAINT pk_pilot_tallies__key PRIMARY KEY (tenant_id, promotion_id)
);

CREATE TABLE pos_groups (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(20) NOT NULL,
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	currency VARCHAR(3) NOT NULL,
	time_zone VARCHAR(64) NOT NULL,
	country VARCHAR(2),
	is_active BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	parent_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_pos_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_pos_groups__parent_id FOREIGN KEY(tenant_id, parent_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_pos_groups__code UNIQUE (tenant_id, code)
);

CREATE INDEX ix_pos_groups__parent_id ON pos_groups (tenant_id, parent_id);

CREATE TABLE priority_groups (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50) NOT NULL,
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	priority INTEGER NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_priority_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_priority_groups__code UNIQUE (tenant_id, code)
);

CREATE TABLE promotion_ab_comparison (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	arm VARCHAR(30) NOT NULL,
	transactions BIGINT NOT NULL,
	avg_basket BIGINT,
	conversion_rate BIGINT,
	uplift BIGINT,
	p_value BIGINT,
	is_significant BOOLEAN,
	adjusted_uplift BIGINT,
	adjusted_p_value BIGINT,
	adjusted_is_significant BOOLEAN,
	conversion_uplift BIGINT,
	conversion_p_value BIGINT,
	currency VARCHAR(3),
	conversions BIGINT NOT NULL,
	revenue BIGINT,
	total_discount BIGINT,
	avg_basket_low BIGINT,
	avg_basket_high BIGINT,
	conversion_rate_low BIGINT,
	conversion_rate_high BIGINT,
	significance_level BIGINT,
	trial VARCHAR(30) NOT NULL,
	computed_at BIGINT NOT NULL,
	kept_name VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_ab_comparison__key PRIMARY KEY (tenant_id, promotion_id, arm),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_min CHECK (conversion_rate >= 0),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_max CHECK (conversion_rate <= 10000),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_low_min CHECK (conversion_rate_low >= 0),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_low_max CHECK (conversion_rate_low <= 10000),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_high_min CHECK (conversion_rate_high >= 0),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_high_max CHECK (conversion_rate_high <= 10000)
);

CREATE TABLE promotion_approvals (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	promotion_name VARCHAR(255) NOT NULL,
	status VARCHAR(30) NOT NULL,
	submitted_at BIGINT NOT NULL,
	submitted_by VARCHAR(255) NOT NULL,
	forecast_cost BIGINT,
	currency VARCHAR(3),
	decided_at BIGINT,
	decided_by VARCHAR(255),
	reason VARCHAR(1000),
	content_hash VARCHAR(64) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_approvals__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_promotion_approvals__promotion_id_submitted_at ON promotion_approvals (tenant_id, promotion_id, submitted_at);

CREATE INDEX ix_promotion_approvals__status_submitted_at ON promotion_approvals (tenant_id, status, submitted_at);

CREATE TABLE promotion_article_sums (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	currency VARCHAR(3) NOT NULL,
	article_number VARCHAR(50) NOT NULL,
	applications BIGINT NOT NULL,
	total_discount BIGINT NOT NULL,
	rank INTEGER,
	CONSTRAINT pk_promotion_article_sums__key PRIMARY KEY (tenant_id, promotion_id, currency, article_number)
);

CREATE INDEX ix_promotion_article_sums__of_promotion ON promotion_article_sums (tenant_id, promotion_id, currency, rank) WHERE rank IS NOT NULL;

CREATE INDEX ix_promotion_article_sums__rank ON promotion_article_sums (tenant_id, rank, promotion_id, currency) WHERE rank <> 0;

CREATE TABLE promotion_authors (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	author VARCHAR(255) NOT NULL,
	CONSTRAINT pk_promotion_authors__key PRIMARY KEY (tenant_id, promotion_id, author)
);

CREATE TABLE promotion_definitions (
	tenant_id VARCHAR(36) NOT NULL,
	hash VARCHAR(64) NOT NULL,
	body BLOB NOT NULL,
	created_at BIGINT NOT NULL,
	CONSTRAINT pk_promotion_definitions__key PRIMARY KEY (tenant_id, hash)
);

CREATE TABLE promotion_discount_distribution (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	bucket_from BIGINT NOT NULL,
	bucket_to BIGINT NOT NULL,
	transactions BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_discount_distribution__key PRIMARY KEY (tenant_id, promotion_id, bucket_from, currency)
);

CREATE TABLE promotion_forecasts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	promotion_name VARCHAR(255) NOT NULL,
	promotion_version INTEGER NOT NULL,
	content_hash VARCHAR(64),
	date_from DATE,
	date_to DATE,
	status VARCHAR(30) NOT NULL,
	progress INTEGER NOT NULL,
	baskets_total INTEGER,
	baskets_replayed INTEGER NOT NULL,
	baskets_skipped INTEGER NOT NULL,
	baskets_affected INTEGER NOT NULL,
	applications BIGINT NOT NULL,
	customers_affected INTEGER NOT NULL,
	points BIGINT NOT NULL,
	message VARCHAR(1000),
	started_at BIGINT,
	completed_at BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_forecasts__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_promotion_forecasts__created_at ON promotion_forecasts (tenant_id, created_at);

CREATE INDEX ix_promotion_forecasts__promotion_id_created_at ON promotion_forecasts (tenant_id, promotion_id, created_at);

CREATE TABLE promotion_hour_of_day (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	weekday INTEGER NOT NULL,
	hour INTEGER NOT NULL,
	transactions BIGINT NOT NULL,
	total_discount BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_hour_of_day__key PRIMARY KEY (tenant_id, promotion_id, weekday, hour, currency),
	CONSTRAINT ck_promotion_hour_of_day__weekday_min CHECK (weekday >= 1),
	CONSTRAINT ck_promotion_hour_of_day__weekday_max CHECK (weekday <= 7),
	CONSTRAINT ck_promotion_hour_of_day__hour_min CHECK (hour >= 0),
	CONSTRAINT ck_promotion_hour_of_day__hour_max CHECK (hour <= 23)
);

CREATE INDEX ix_promotion_hour_of_day__promotion_id_total_discount ON promotion_hour_of_day (tenant_id, promotion_id, total_discount);

CREATE INDEX ix_promotion_hour_of_day__total_discount ON promotion_hour_of_day (tenant_id, total_discount);

CREATE TABLE promotion_hours_due (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	currency VARCHAR(3) NOT NULL,
	CONSTRAINT pk_promotion_hours_due__key PRIMARY KEY (tenant_id, promotion_id, currency)
);

CREATE TABLE promotion_performance (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	applications_count BIGINT NOT NULL,
	total_discount_given BIGINT,
	first_applied_at BIGINT NOT NULL,
	last_applied_at BIGINT NOT NULL,
	currency VARCHAR(3),
	logged_name VARCHAR(255) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_performance__key PRIMARY KEY (tenant_id, promotion_id)
);

CREATE TABLE promotion_performance_by_currency (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	applications_count BIGINT NOT NULL,
	total_discount_given BIGINT NOT NULL,
	first_applied_at BIGINT NOT NULL,
	last_applied_at BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_performance_by_currency__key PRIMARY KEY (tenant_id, promotion_id, currency)
);

CREATE TABLE promotion_places_due (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	fallen BOOLEAN NOT NULL,
	CONSTRAINT pk_promotion_places_due__key PRIMARY KEY (tenant_id, promotion_id)
);

CREATE TABLE promotion_pos_group_sums (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	currency VARCHAR(3) NOT NULL,
	pos_group_id VARCHAR(36) NOT NULL,
	applications BIGINT NOT NULL,
	total_discount BIGINT NOT NULL,
	rank INTEGER,
	CONSTRAINT pk_promotion_pos_group_sums__key PRIMARY KEY (tenant_id, promotion_id, currency, pos_group_id)
);

CREATE INDEX ix_promotion_pos_group_sums__of_promotion ON promotion_pos_group_sums (tenant_id, promotion_id, currency, rank) WHERE rank IS NOT NULL;

CREATE INDEX ix_promotion_pos_group_sums__rank ON promotion_pos_group_sums (tenant_id, rank, promotion_id, currency) WHERE rank <> 0;

CREATE TABLE promotion_uplift_analysis (
	tenant_id VARCHAR(36) NOT NULL,
	baseline_from DATE,
	baseline_to DATE,
	promotion_from DATE,
	promotion_to DATE,
	baseline_days INTEGER,
	promotion_days INTEGER,
	baseline_avg_basket BIGINT,
	promotion_avg_basket BIGINT,
	baseline_revenue_per_day BIGINT,
	promotion_revenue_per_day BIGINT,
	uplift_pct BIGINT,
	p_value BIGINT,
	is_significant BOOLEAN,
	revenue_per_day_uplift_pct BIGINT,
	revenue_per_day_p_value BIGINT,
	baseline_transactions BIGINT NOT NULL,
	promotion_transactions BIGINT NOT NULL,
	significance_level BIGINT,
	promotion_id VARCHAR(36) NOT NULL,
	currency VARCHAR(3),
	computed_at BIGINT,
	kept_name VARCHAR(255),
	wanted_from DATE,
	first_applied_on DATE NOT NULL,
	is_stale BOOLEAN NOT NULL,
	due_at BIGINT,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_uplift_analysis__key PRIMARY KEY (tenant_id, promotion_id)
);

CREATE INDEX ix_promotion_uplift_analysis__due_at ON promotion_uplift_analysis (tenant_id, due_at);

CREATE INDEX ix_promotion_uplift_analysis__is_stale_promotion_id ON promotion_uplift_analysis (tenant_id, is_stale, promotion_id);

CREATE TABLE promotion_uplift_by_currency (
	tenant_id VARCHAR(36) NOT NULL,
	baseline_from DATE,
	baseline_to DATE,
	promotion_from DATE,
	promotion_to DATE,
	baseline_days INTEGER,
	promotion_days INTEGER,
	baseline_avg_basket BIGINT,
	promotion_avg_basket BIGINT,
	baseline_revenue_per_day BIGINT,
	promotion_revenue_per_day BIGINT,
	uplift_pct BIGINT,
	p_value BIGINT,
	is_significant BOOLEAN,
	revenue_per_day_uplift_pct BIGINT,
	revenue_per_day_p_value BIGINT,
	baseline_transactions BIGINT NOT NULL,
	promotion_transactions BIGINT NOT NULL,
	significance_level BIGINT,
	currency VARCHAR(3) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	computed_at BIGINT NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_uplift_by_currency__key PRIMARY KEY (tenant_id, promotion_id, currency)
);

CREATE TABLE promotion_usage (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	customer_id VARCHAR(50) NOT NULL,
	count INTEGER NOT NULL,
	CONSTRAINT pk_promotion_usage__key PRIMARY KEY (tenant_id, promotion_id, customer_id),
	CONSTRAINT ck_promotion_usage__count CHECK (count >= 0)
);

CREATE INDEX ix_promotion_usage__customer_id ON promotion_usage (tenant_id, customer_id, promotion_id);

CREATE TABLE promotion_usage_by_day (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	applications BIGINT NOT NULL,
	total_discount BIGINT NOT NULL,
	transactions BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_usage_by_day__key PRIMARY KEY (tenant_id, day, promotion_id, currency)
);

CREATE INDEX ix_promotion_usage_by_day__promotion_id_day_currency ON promotion_usage_by_day (tenant_id, promotion_id, day, currency);

CREATE INDEX ix_promotion_usage_by_day__promotion_id_total_discount ON promotion_usage_by_day (tenant_id, promotion_id, total_discount);

CREATE INDEX ix_promotion_usage_by_day__total_discount ON promotion_usage_by_day (tenant_id, total_discount);

CREATE TABLE promotion_usage_by_day_and_hour (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	hour INTEGER NOT NULL,
	weekday INTEGER NOT NULL,
	applications BIGINT NOT NULL,
	total_discount BIGINT NOT NULL,
	transactions BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_usage_by_day_and_hour__key PRIMARY KEY (tenant_id, day, promotion_id, hour, currency),
	CONSTRAINT ck_promotion_usage_by_day_and_hour__hour_min CHECK (hour >= 0),
	CONSTRAINT ck_promotion_usage_by_day_and_hour__hour_max CHECK (hour <= 23),
	CONSTRAINT ck_promotion_usage_by_day_and_hour__weekday_min CHECK (weekday >= 1),
	CONSTRAINT ck_promotion_usage_by_day_and_hour__weekday_max CHECK (weekday <= 7)
);

CREATE INDEX ix_promotion_usage_by_day_and_hour__promotion_id_day ON promotion_usage_by_day_and_hour (tenant_id, promotion_id, day);

CREATE TABLE promotion_usage_by_day_of_week (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	weekday INTEGER NOT NULL,
	applications BIGINT NOT NULL,
	total_discount BIGINT NOT NULL,
	transactions BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_usage_by_day_of_week__key PRIMARY KEY (tenant_id, promotion_id, weekday, currency),
	CONSTRAINT ck_promotion_usage_by_day_of_week__weekday_min CHECK (weekday >= 1),
	CONSTRAINT ck_promotion_usage_by_day_of_week__weekday_max CHECK (weekday <= 7)
);

CREATE TABLE promotion_usage_by_hour (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	hour INTEGER NOT NULL,
	applications BIGINT NOT NULL,
	total_discount BIGINT NOT NULL,
	transactions BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_usage_by_hour__key PRIMARY KEY (tenant_id, promotion_id, hour, currency),
	CONSTRAINT ck_promotion_usage_by_hour__hour_min CHECK (hour >= 0),
	CONSTRAINT ck_promotion_usage_by_hour__hour_max CHECK (hour <= 23)
);

CREATE TABLE promotion_utc_days (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) NOT NULL,
	applications BIGINT NOT NULL,
	total_discount BIGINT NOT NULL,
	first_applied_at BIGINT NOT NULL,
	last_applied_at BIGINT NOT NULL,
	CONSTRAINT pk_promotion_utc_days__key PRIMARY KEY (tenant_id, day, promotion_id, currency)
);

CREATE TABLE promotion_utc_months (
	tenant_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	month DATE NOT NULL,
	currency VARCHAR(3) NOT NULL,
	applications BIGINT NOT NULL,
	total_discount BIGINT NOT NULL,
	first_applied_at BIGINT NOT NULL,
	last_applied_at BIGINT NOT NULL,
	CONSTRAINT pk_promotion_utc_months__key PRIMARY KEY (tenant_id, month, promotion_id, currency)
);

CREATE TABLE raw_payloads (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	message_id VARCHAR(255) NOT NULL,
	payload BLOB NOT NULL,
	content_type VARCHAR(255) NOT NULL,
	received_at BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	job_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_raw_payloads__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_raw_payloads__job_id ON raw_payloads (tenant_id, job_id);

CREATE INDEX ix_raw_payloads__message_id ON raw_payloads (tenant_id, message_id);

CREATE INDEX ix_raw_payloads__received_at ON raw_payloads (tenant_id, received_at);

CREATE TABLE record_dictionaries (
	tenant_id VARCHAR(36) NOT NULL,
	id BIGINT NOT NULL,
	content BLOB NOT NULL,
	created_at BIGINT NOT NULL,
	CONSTRAINT pk_record_dictionaries__key PRIMARY KEY (tenant_id, id)
);

CREATE TABLE redemption_logs (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	action VARCHAR(30) NOT NULL,
	transaction_id VARCHAR(50),
	customer_id VARCHAR(50),
	occurred_at BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	coupon_code_id VARCHAR(36),
	coupon_type_id VARCHAR(36),
	promotion_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_redemption_logs__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_redemption_logs__coupon_code_id_occurred_at ON redemption_logs (tenant_id, coupon_code_id, occurred_at);

CREATE INDEX ix_redemption_logs__coupon_type_id_action ON redemption_logs (tenant_id, coupon_type_id, action);

CREATE INDEX ix_redemption_logs__customer_id_occurred_at ON redemption_logs (tenant_id, customer_id, occurred_at);

CREATE INDEX ix_redemption_logs__transaction_id ON redemption_logs (tenant_id, transaction_id);

CREATE TABLE report_state (
	tenant_id VARCHAR(36) NOT NULL,
	portions BIGINT NOT NULL,
	refreshed_portions BIGINT NOT NULL,
	refreshed_at BIGINT,
	rebuild VARCHAR(10),
	cursor_at BIGINT,
	cursor_id VARCHAR(36),
	CONSTRAINT pk_report_state__key PRIMARY KEY (tenant_id)
);

CREATE TABLE retention_marks (
	tenant_id VARCHAR(36) NOT NULL,
	kind VARCHAR(20) NOT NULL,
	purged_before BIGINT,
	spared_before BIGINT,
	unchanged_since BIGINT,
	archived_before BIGINT,
	archived_at BIGINT,
	CONSTRAINT pk_retention_marks__key PRIMARY KEY (tenant_id, kind)
);

CREATE TABLE schema_compatibility (
	works_with VARCHAR(32) NOT NULL,
	CONSTRAINT pk_schema_compatibility__key PRIMARY KEY (works_with)
);

CREATE TABLE share_demand (
	tenant_id VARCHAR(36) NOT NULL,
	kind VARCHAR(20) NOT NULL,
	entity_id VARCHAR(36) NOT NULL,
	forecast BIGINT NOT NULL,
	halvings INTEGER NOT NULL,
	piece BIGINT NOT NULL,
	changed_at BIGINT NOT NULL,
	CONSTRAINT pk_share_demand__key PRIMARY KEY (tenant_id, kind, entity_id)
);

CREATE INDEX ix_share_demand__changed ON share_demand (tenant_id, changed_at);

CREATE TABLE side_effect_jobs (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	origin VARCHAR(36) NOT NULL,
	transaction_id VARCHAR(50) NOT NULL,
	transaction_counter INTEGER NOT NULL,
	status VARCHAR(10) NOT NULL,
	payload BLOB NOT NULL,
	enqueued_at BIGINT NOT NULL,
	due_at BIGINT NOT NULL,
	started_at BIGINT,
	completed_at BIGINT,
	attempts INTEGER NOT NULL,
	lease_owner VARCHAR(100),
	lease_until BIGINT,
	coupons_redeemed INTEGER NOT NULL,
	budgets_consumed INTEGER NOT NULL,
	loyalty_points_earned BIGINT NOT NULL,
	post_purchase_coupons TEXT,
	reason VARCHAR(1000),
	reported BOOLEAN NOT NULL,
	traceparent VARCHAR(55),
	CONSTRAINT pk_side_effect_jobs__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_side_effect_jobs__iteration UNIQUE (tenant_id, origin, transaction_id, transaction_counter),
	CONSTRAINT ck_side_effect_jobs__status CHECK (status IN ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'))
);

CREATE INDEX ix_side_effect_jobs__due ON side_effect_jobs (status, due_at);

CREATE INDEX ix_side_effect_jobs__unreported ON side_effect_jobs (tenant_id, enqueued_at) WHERE NOT reported;

CREATE TABLE signing_keys (
	kid VARCHAR(64) NOT NULL,
	algorithm VARCHAR(10) NOT NULL,
	private_key TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	retired_at BIGINT,
	CONSTRAINT pk_signing_keys__key PRIMARY KEY (kid)
);

CREATE TABLE stakeholders (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50) NOT NULL,
	name VARCHAR(255) NOT NULL,
	type VARCHAR(30) NOT NULL,
	contact_name VARCHAR(255),
	email VARCHAR(255),
	phone VARCHAR(50),
	is_active BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_stakeholders__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_stakeholders__code UNIQUE (tenant_id, code)
);

CREATE TABLE store_shares (
	tenant_id VARCHAR(36) NOT NULL,
	deployment_id VARCHAR(36) NOT NULL,
	kind VARCHAR(20) NOT NULL,
	entity_id VARCHAR(36) NOT NULL,
	outstanding BIGINT NOT NULL,
	forecast BIGINT NOT NULL,
	currency VARCHAR(3),
	reference VARCHAR(36),
	expires_at BIGINT NOT NULL,
	last_key VARCHAR(64),
	last_answer BLOB,
	changed_at BIGINT NOT NULL,
	CONSTRAINT pk_store_shares__key PRIMARY KEY (tenant_id, deployment_id, kind, entity_id),
	CONSTRAINT ck_store_shares__outstanding CHECK (outstanding >= 0)
);

CREATE INDEX ix_store_shares__entity ON store_shares (tenant_id, kind, entity_id);

CREATE INDEX ix_store_shares__expiry ON store_shares (expires_at);

CREATE TABLE sync_link (
	name VARCHAR(10) NOT NULL,
	url VARCHAR(2000) NOT NULL,
	auth_url VARCHAR(2000) NOT NULL,
	client_id VARCHAR(255) NOT NULL,
	client_secret VARCHAR(1000) NOT NULL,
	next_secret VARCHAR(1000),
	store_code VARCHAR(50) NOT NULL,
	store_name VARCHAR(255),
	pos_group_code VARCHAR(20),
	interval_seconds INTEGER NOT NULL,
	changed_at BIGINT NOT NULL,
	deployment_id VARCHAR(36),
	instance_id VARCHAR(36),
	cloud_tenant_id VARCHAR(36),
	cursor VARCHAR(500),
	last_sync_at BIGINT,
	last_attempt_at BIGINT,
	last_error VARCHAR(1000),
	CONSTRAINT pk_sync_link__key PRIMARY KEY (name)
);

CREATE TABLE sync_pages (
	tenant_id VARCHAR(36) NOT NULL,
	page INTEGER NOT NULL,
	body BLOB NOT NULL,
	received_at BIGINT NOT NULL,
	CONSTRAINT pk_sync_pages__key PRIMARY KEY (tenant_id, page)
);

CREATE TABLE sync_uploads (
	tenant_id VARCHAR(36) NOT NULL,
	number BIGINT NOT NULL,
	kind VARCHAR(10) NOT NULL,
	subject_id VARCHAR(36) NOT NULL,
	transaction_id VARCHAR(50),
	transaction_counter INTEGER NOT NULL,
	payload BLOB,
	happened_at BIGINT NOT NULL,
	rejected_at BIGINT,
	reason VARCHAR(1000),
	CONSTRAINT pk_sync_uploads__key PRIMARY KEY (tenant_id, number),
	CONSTRAINT uq_sync_uploads__subject UNIQUE (tenant_id, kind, subject_id)
);

CREATE TABLE tenants (
	tenant_id VARCHAR(36) NOT NULL,
	name VARCHAR(255) NOT NULL,
	is_operator BOOLEAN NOT NULL,
	master_data_callback_url VARCHAR(2000),
	basic_for_readers BOOLEAN NOT NULL,
	code_required BOOLEAN,
	secret_days INTEGER,
	secret_overlap_hours INTEGER,
	secret_grace_days INTEGER,
	enable_production_nudges BOOLEAN NOT NULL,
	combination_strategy VARCHAR(30) NOT NULL,
	points_per_currency_unit BIGINT NOT NULL,
	unmatched_returns VARCHAR(30) NOT NULL,
	counts_towards_threshold BOOLEAN,
	excluded_counts_towards_threshold BOOLEAN,
	significance_level BIGINT NOT NULL,
	default_currency VARCHAR(3),
	approval VARCHAR(30) NOT NULL,
	approval_from_amount BIGINT,
	approval_currency VARCHAR(3),
	approver_scope VARCHAR(30) NOT NULL,
	agents_may_activate BOOLEAN NOT NULL,
	sales_log_days INTEGER,
	sales_logs_unarchived BOOLEAN,
	audit_log_days INTEGER,
	redemption_log_days INTEGER,
	idle_customer_days INTEGER,
	idle_points_lapse BOOLEAN,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_tenants__key PRIMARY KEY (tenant_id),
	CONSTRAINT ck_tenants__secret_days_min CHECK (secret_days >= 7),
	CONSTRAINT ck_tenants__secret_days_max CHECK (secret_days <= 3650),
	CONSTRAINT ck_tenants__secret_overlap_hours_min CHECK (secret_overlap_hours >= 1),
	CONSTRAINT ck_tenants__secret_overlap_hours_max CHECK (secret_overlap_hours <= 720),
	CONSTRAINT ck_tenants__secret_grace_days_min CHECK (secret_grace_days >= 1),
	CONSTRAINT ck_tenants__secret_grace_days_max CHECK (secret_grace_days <= 3650),
	CONSTRAINT ck_tenants__points_per_currency_unit_min CHECK (points_per_currency_unit >= 0),
	CONSTRAINT ck_tenants__significance_level_min CHECK (significance_level >= 1),
	CONSTRAINT ck_tenants__significance_level_max CHECK (significance_level <= 500),
	CONSTRAINT ck_tenants__approval_from_amount_min CHECK (approval_from_amount >= 0),
	CONSTRAINT ck_tenants__sales_log_days_min CHECK (sales_log_days >= 30),
	CONSTRAINT ck_tenants__sales_log_days_max CHECK (sales_log_days <= 36500),
	CONSTRAINT ck_tenants__audit_log_days_min CHECK (audit_log_days >= 365),
	CONSTRAINT ck_tenants__audit_log_days_max CHECK (audit_log_days <= 36500),
	CONSTRAINT ck_tenants__redemption_log_days_min CHECK (redemption_log_days >= 365),
	CONSTRAINT ck_tenants__redemption_log_days_max CHECK (redemption_log_days <= 36500),
	CONSTRAINT ck_tenants__idle_customer_days_min CHECK (idle_customer_days >= 30),
	CONSTRAINT ck_tenants__idle_customer_days_max CHECK (idle_customer_days <= 36500)
);

CREATE TABLE till_keys (
	name VARCHAR(50) NOT NULL,
	digest VARCHAR(64) NOT NULL,
	former_digest VARCHAR(64),
	former_until BIGINT,
	created_at BIGINT NOT NULL,
	rotated_at BIGINT,
	last_used_at BIGINT,
	CONSTRAINT pk_till_keys__key PRIMARY KEY (name)
);

CREATE TABLE trusted_names (
	name VARCHAR(300) NOT NULL,
	speaks_for VARCHAR(36) NOT NULL,
	added_at BIGINT NOT NULL,
	added_by VARCHAR(255) NOT NULL,
	valid_until BIGINT,
	CONSTRAINT pk_trusted_names__key PRIMARY KEY (name)
);

CREATE INDEX ix_trusted_names__tenant ON trusted_names (speaks_for);

CREATE TABLE webhook_queue (
	tenant_id VARCHAR(36) NOT NULL,
	delivery_id VARCHAR(36) NOT NULL,
	lane VARCHAR(64) NOT NULL,
	event_id VARCHAR(36) NOT NULL,
	attempts INTEGER NOT NULL,
	due_at BIGINT NOT NULL,
	lease_owner VARCHAR(100),
	lease_until BIGINT,
	CONSTRAINT pk_webhook_queue__key PRIMARY KEY (tenant_id, delivery_id)
);

CREATE INDEX ix_webhook_queue__lane ON webhook_queue (lane, due_at);

CREATE TABLE webhook_subscriptions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	name VARCHAR(255),
	callback_url VARCHAR(2000) NOT NULL,
	event_types TEXT NOT NULL,
	secret VARCHAR(255),
	is_active BOOLEAN NOT NULL,
	envelope VARCHAR(30) NOT NULL,
	description VARCHAR(1000),
	previous_secret VARCHAR(255),
	previous_secret_until BIGINT,
	failure_count INTEGER NOT NULL,
	disabled_at BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_webhook_subscriptions__key PRIMARY KEY (tenant_id, id)
);

CREATE TABLE article_groups_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	group_id VARCHAR(20),
	name VARCHAR(255),
	description VARCHAR(1000),
	type VARCHAR(30),
	source VARCHAR(30),
	never_discounted VARCHAR(30),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	parent_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_article_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_article_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_article_groups_drafts__draft ON article_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_article_groups_drafts__owner ON article_groups_drafts (tenant_id, draft_owner);

CREATE TABLE article_import_job_items (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	status VARCHAR(30),
	error VARCHAR(2000),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	job_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_article_import_job_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_article_import_job_items__job_id FOREIGN KEY(tenant_id, job_id) REFERENCES article_import_jobs (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_article_import_job_items__job_id ON article_import_job_items (tenant_id, job_id);

CREATE TABLE articles (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50) NOT NULL,
	name VARCHAR(255),
	description VARCHAR(1000),
	ean VARCHAR(18),
	manufacturer VARCHAR(255),
	manufacturer_id VARCHAR(255),
	category VARCHAR(100),
	article_group_key VARCHAR(20),
	base_price BIGINT,
	currency VARCHAR(3),
	unit VARCHAR(10) NOT NULL,
	source VARCHAR(30) NOT NULL,
	is_active BOOLEAN NOT NULL,
	never_discounted VARCHAR(30),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	article_group_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	text_number INTEGER PRIMARY KEY,
	CONSTRAINT pk_articles__key UNIQUE (tenant_id, id),
	CONSTRAINT ck_articles__base_price_min CHECK (base_price >= 0),
	CONSTRAINT fk_articles__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT uq_articles__article_number UNIQUE (tenant_id, article_number)
);

CREATE INDEX ix_articles__article_group_id ON articles (tenant_id, article_group_id);

CREATE INDEX ix_articles__article_group_key ON articles (tenant_id, article_group_key);

CREATE INDEX ix_articles__ean ON articles (tenant_id, ean);

CREATE INDEX ix_articles__name ON articles (tenant_id, name);

CREATE VIRTUAL TABLE articles_texts USING fts5(text, content='', columnsize=0, tokenize='trigram', detail=none);

CREATE TABLE articles_texts_due (
	seq INTEGER PRIMARY KEY,
	number INTEGER NOT NULL UNIQUE,
	indexed TEXT
);

CREATE TRIGGER articles_texts_insert AFTER INSERT ON articles BEGIN
	INSERT INTO articles_texts_due (number, indexed) VALUES (new.text_number, NULL) ON CONFLICT (number) DO NOTHING;
END;

CREATE TRIGGER articles_texts_update AFTER UPDATE OF article_number, name, description, ean, manufacturer, manufacturer_id, category ON articles
WHEN old.article_number IS NOT new.article_number OR old.name IS NOT new.name OR old.description IS NOT new.description OR old.ean IS NOT new.ean OR old.manufacturer IS NOT new.manufacturer OR old.manufacturer_id IS NOT new.manufacturer_id OR old.category IS NOT new.category BEGIN
	INSERT INTO articles_texts_due (number, indexed) VALUES (old.text_number, coalesce(old.article_number, '') || char(10) || coalesce(old.name, '') || char(10) || coalesce(old.description, '') || char(10) || coalesce(old.ean, '') || char(10) || coalesce(old.manufacturer, '') || char(10) || coalesce(old.manufacturer_id, '') || char(10) || coalesce(old.category, '')) ON CONFLICT (number) DO NOTHING;
END;

CREATE TRIGGER articles_texts_delete AFTER DELETE ON articles BEGIN
	INSERT INTO articles_texts_due (number, indexed) VALUES (old.text_number, coalesce(old.article_number, '') || char(10) || coalesce(old.name, '') || char(10) || coalesce(old.description, '') || char(10) || coalesce(old.ean, '') || char(10) || coalesce(old.manufacturer, '') || char(10) || coalesce(old.manufacturer_id, '') || char(10) || coalesce(old.category, '')) ON CONFLICT (number) DO NOTHING;
END;

CREATE TRIGGER articles_texts_fold AFTER INSERT ON articles_texts_due WHEN new.seq >= 500 BEGIN
	INSERT INTO articles_texts (articles_texts, rowid, text) SELECT 'delete', number, indexed FROM articles_texts_due WHERE indexed IS NOT NULL;
	INSERT INTO articles_texts (rowid, text) SELECT text_number, coalesce(article_number, '') || char(10) || coalesce(name, '') || char(10) || coalesce(description, '') || char(10) || coalesce(ean, '') || char(10) || coalesce(manufacturer, '') || char(10) || coalesce(manufacturer_id, '') || char(10) || coalesce(category, '') FROM articles WHERE text_number IN (SELECT number FROM articles_texts_due);
	DELETE FROM articles_texts_due;
END;

CREATE TABLE articles_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	name VARCHAR(255),
	description VARCHAR(1000),
	ean VARCHAR(18),
	manufacturer VARCHAR(255),
	manufacturer_id VARCHAR(255),
	category VARCHAR(100),
	article_group_key VARCHAR(20),
	base_price BIGINT,
	currency VARCHAR(3),
	unit VARCHAR(10),
	source VARCHAR(30),
	is_active BOOLEAN,
	never_discounted VARCHAR(30),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	article_group_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_articles_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_articles_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_articles_drafts__draft ON articles_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_articles_drafts__owner ON articles_drafts (tenant_id, draft_owner);

CREATE TABLE budget_consumptions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	transaction_id VARCHAR(50) NOT NULL,
	transaction_counter INTEGER NOT NULL,
	amount BIGINT NOT NULL,
	uncovered_amount BIGINT NOT NULL,
	currency VARCHAR(3) NOT NULL,
	consumed_at BIGINT NOT NULL,
	is_cancellation BOOLEAN NOT NULL,
	origin VARCHAR(36) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	budget_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budget_consumptions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_budget_consumptions__budget_id FOREIGN KEY(tenant_id, budget_id) REFERENCES budgets (tenant_id, id),
	CONSTRAINT uq_budget_consumptions__budget_id_origin_transaction_i_1ce1dfca UNIQUE (tenant_id, budget_id, origin, transaction_id, transaction_counter, promotion_id, is_cancellation)
);

CREATE INDEX ix_budget_consumptions__origin_transaction_id ON budget_consumptions (tenant_id, origin, transaction_id);

CREATE TABLE budget_notifications (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	threshold_percentage BIGINT NOT NULL,
	last_notified_at BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	budget_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budget_notifications__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_budget_notifications__threshold_percentage_min CHECK (threshold_percentage >= 0),
	CONSTRAINT ck_budget_notifications__threshold_percentage_max CHECK (threshold_percentage <= 10000),
	CONSTRAINT fk_budget_notifications__budget_id FOREIGN KEY(tenant_id, budget_id) REFERENCES budgets (tenant_id, id),
	CONSTRAINT uq_budget_notifications__budget_id_threshold_percentage UNIQUE (tenant_id, budget_id, threshold_percentage)
);

CREATE TABLE budget_stakeholders (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	share_percentage BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	budget_id VARCHAR(36) NOT NULL,
	stakeholder_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budget_stakeholders__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_budget_stakeholders__share_percentage_min CHECK (share_percentage >= 0),
	CONSTRAINT ck_budget_stakeholders__share_percentage_max CHECK (share_percentage <= 10000),
	CONSTRAINT fk_budget_stakeholders__budget_id FOREIGN KEY(tenant_id, budget_id) REFERENCES budgets (tenant_id, id),
	CONSTRAINT fk_budget_stakeholders__stakeholder_id FOREIGN KEY(tenant_id, stakeholder_id) REFERENCES stakeholders (tenant_id, id),
	CONSTRAINT uq_budget_stakeholders__budget_id_stakeholder_id UNIQUE (tenant_id, budget_id, stakeholder_id)
);

CREATE INDEX ix_budget_stakeholders__stakeholder_id ON budget_stakeholders (tenant_id, stakeholder_id);

CREATE TABLE budgets_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255),
	description VARCHAR(1000),
	status VARCHAR(30),
	total_amount BIGINT,
	consumed_amount BIGINT,
	reserved_amount BIGINT,
	currency VARCHAR(3),
	valid_from BIGINT,
	valid_to BIGINT,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_budgets_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_budgets_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_budgets_drafts__draft ON budgets_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_budgets_drafts__owner ON budgets_drafts (tenant_id, draft_owner);

CREATE TABLE calculation_configs_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	mode VARCHAR(30),
	rounding VARCHAR(30),
	precision INTEGER,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_calculation_configs_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_calculation_configs_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_calculation_configs_drafts__draft ON calculation_configs_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_calculation_configs_drafts__parent ON calculation_configs_drafts (tenant_id, promotion_id);

CREATE TABLE calculation_log_parts (
	tenant_id VARCHAR(36) NOT NULL,
	log_id VARCHAR(36) NOT NULL,
	block INTEGER NOT NULL,
	lines BLOB NOT NULL,
	promotions BLOB NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	CONSTRAINT pk_calculation_log_parts__key PRIMARY KEY (tenant_id, log_id),
	CONSTRAINT fk_calculation_log_parts__log_id FOREIGN KEY(tenant_id, log_id) REFERENCES calculation_logs (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_calculation_log_parts__block ON calculation_log_parts (tenant_id, block);

CREATE TABLE campaign_pos_groups_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	campaign_id VARCHAR(36),
	pos_group_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_campaign_pos_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_campaign_pos_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_campaign_pos_groups_drafts__draft ON campaign_pos_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_campaign_pos_groups_drafts__parent ON campaign_pos_groups_drafts (tenant_id, campaign_id);

CREATE TABLE campaigns (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50) NOT NULL,
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	start_at BIGINT,
	end_at BIGINT,
	status VARCHAR(30) NOT NULL,
	notes VARCHAR(2000),
	merge_promotion_pos_groups BOOLEAN NOT NULL,
	locked BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	owner_stakeholder_id VARCHAR(36),
	primary_contact_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_campaigns__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_campaigns__owner_stakeholder_id FOREIGN KEY(tenant_id, owner_stakeholder_id) REFERENCES stakeholders (tenant_id, id),
	CONSTRAINT fk_campaigns__primary_contact_id FOREIGN KEY(tenant_id, primary_contact_id) REFERENCES stakeholders (tenant_id, id),
	CONSTRAINT uq_campaigns__code UNIQUE (tenant_id, code)
);

CREATE INDEX ix_campaigns__owner_stakeholder_id ON campaigns (tenant_id, owner_stakeholder_id);

CREATE INDEX ix_campaigns__primary_contact_id ON campaigns (tenant_id, primary_contact_id);

CREATE INDEX ix_campaigns__status_end_at ON campaigns (tenant_id, status, end_at);

CREATE TABLE campaigns_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255),
	description VARCHAR(1000),
	start_at BIGINT,
	end_at BIGINT,
	status VARCHAR(30),
	notes VARCHAR(2000),
	merge_promotion_pos_groups BOOLEAN,
	locked BOOLEAN,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	owner_stakeholder_id VARCHAR(36),
	primary_contact_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_campaigns_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_campaigns_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_campaigns_drafts__draft ON campaigns_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_campaigns_drafts__owner ON campaigns_drafts (tenant_id, draft_owner);

CREATE TABLE control_pos_groups_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	config_id VARCHAR(36),
	pos_group_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_control_pos_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_control_pos_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_control_pos_groups_drafts__draft ON control_pos_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_control_pos_groups_drafts__parent ON control_pos_groups_drafts (tenant_id, config_id);

CREATE TABLE coupon_code_batches (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	name VARCHAR(255),
	quantity INTEGER NOT NULL,
	generated_count INTEGER NOT NULL,
	status VARCHAR(30) NOT NULL,
	started_at BIGINT,
	completed_at BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	coupon_type_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_code_batches__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_code_batches__quantity_min CHECK (quantity >= 1),
	CONSTRAINT fk_coupon_code_batches__coupon_type_id FOREIGN KEY(tenant_id, coupon_type_id) REFERENCES coupon_types (tenant_id, id)
);

CREATE INDEX ix_coupon_code_batches__coupon_type_id ON coupon_code_batches (tenant_id, coupon_type_id);

CREATE INDEX ix_coupon_code_batches__status_modified_at ON coupon_code_batches (tenant_id, status, modified_at);

CREATE TABLE coupon_code_configurations (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	prefix VARCHAR(20),
	suffix VARCHAR(20),
	length INTEGER NOT NULL,
	alphabet VARCHAR(64) NOT NULL,
	check_character BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	coupon_type_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_code_configurations__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_code_configurations__length_min CHECK (length >= 1),
	CONSTRAINT ck_coupon_code_configurations__length_max CHECK (length <= 40),
	CONSTRAINT fk_coupon_code_configurations__coupon_type_id FOREIGN KEY(tenant_id, coupon_type_id) REFERENCES coupon_types (tenant_id, id),
	CONSTRAINT uq_coupon_code_configurations__coupon_type_id UNIQUE (tenant_id, coupon_type_id)
);

CREATE TABLE coupon_codes (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(64) NOT NULL,
	status VARCHAR(30) NOT NULL,
	customer_id VARCHAR(50),
	reservation_ref VARCHAR(36),
	source VARCHAR(30) NOT NULL,
	issued_at BIGINT,
	issuing_promotion_id VARCHAR(36),
	issuing_transaction_id VARCHAR(50),
	issuance_channel VARCHAR(30),
	valid_from BIGINT,
	valid_until BIGINT,
	reserved_until BIGINT,
	reserved_by_transaction_id VARCHAR(50),
	issue_reason VARCHAR(255),
	issue_metadata TEXT,
	redeemed_at BIGINT,
	redeemed_transaction_id VARCHAR(50),
	redemption_count INTEGER NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	coupon_type_id VARCHAR(36) NOT NULL,
	batch_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_codes__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_codes__redemption_count_min CHECK (redemption_count >= 0),
	CONSTRAINT fk_coupon_codes__coupon_type_id FOREIGN KEY(tenant_id, coupon_type_id) REFERENCES coupon_types (tenant_id, id),
	CONSTRAINT uq_coupon_codes__code UNIQUE (tenant_id, code),
	CONSTRAINT uq_coupon_codes__issuing_transaction_id_issuing_promot_1ed4fe12 UNIQUE (tenant_id, issuing_transaction_id, issuing_promotion_id, coupon_type_id)
);

CREATE INDEX ix_coupon_codes__batch_id_id ON coupon_codes (tenant_id, batch_id, id);

CREATE INDEX ix_coupon_codes__coupon_type_id_status_issued_at ON coupon_codes (tenant_id, coupon_type_id, status, issued_at);

CREATE INDEX ix_coupon_codes__customer_id ON coupon_codes (tenant_id, customer_id);

CREATE INDEX ix_coupon_codes__reservation_ref ON coupon_codes (tenant_id, reservation_ref);

CREATE INDEX ix_coupon_codes__status_reserved_until ON coupon_codes (tenant_id, status, reserved_until);

CREATE INDEX ix_coupon_codes__status_valid_until ON coupon_codes (tenant_id, status, valid_until);

CREATE TABLE coupon_refill_schedules (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	minimum_pool_size INTEGER NOT NULL,
	refill_quantity INTEGER NOT NULL,
	interval_minutes INTEGER NOT NULL,
	is_active BOOLEAN NOT NULL,
	last_run_at BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	coupon_type_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_refill_schedules__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_refill_schedules__minimum_pool_size_min CHECK (minimum_pool_size >= 0),
	CONSTRAINT ck_coupon_refill_schedules__refill_quantity_min CHECK (refill_quantity >= 1),
	CONSTRAINT ck_coupon_refill_schedules__interval_minutes_min CHECK (interval_minutes >= 1),
	CONSTRAINT fk_coupon_refill_schedules__coupon_type_id FOREIGN KEY(tenant_id, coupon_type_id) REFERENCES coupon_types (tenant_id, id)
);

CREATE INDEX ix_coupon_refill_schedules__coupon_type_id ON coupon_refill_schedules (tenant_id, coupon_type_id);

CREATE TABLE coupon_types_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255),
	description VARCHAR(1000),
	status VARCHAR(30),
	code_type VARCHAR(30),
	generic_code VARCHAR(64),
	valid_from BIGINT,
	valid_to BIGINT,
	validity_days INTEGER,
	max_redemptions INTEGER,
	max_redemptions_per_customer INTEGER,
	reservation_minutes INTEGER,
	requires_activation BOOLEAN,
	on_return VARCHAR(30),
	earned_on_return VARCHAR(30),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_coupon_types_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_coupon_types_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_coupon_types_drafts__draft ON coupon_types_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_coupon_types_drafts__owner ON coupon_types_drafts (tenant_id, draft_owner);

CREATE TABLE customer_groups_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255),
	description VARCHAR(1000),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_customer_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_customer_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_customer_groups_drafts__draft ON customer_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_customer_groups_drafts__owner ON customer_groups_drafts (tenant_id, draft_owner);

CREATE TABLE import_job_errors (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	row_number INTEGER NOT NULL,
	property VARCHAR(255),
	code VARCHAR(50) NOT NULL,
	message VARCHAR(2000) NOT NULL,
	payload TEXT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	job_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_import_job_errors__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_import_job_errors__job_id FOREIGN KEY(tenant_id, job_id) REFERENCES import_jobs (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_import_job_errors__job_id_row_number ON import_job_errors (tenant_id, job_id, row_number);

CREATE TABLE local_deployments (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	store_code VARCHAR(50) NOT NULL,
	name VARCHAR(255),
	program_version VARCHAR(20),
	status VARCHAR(30) NOT NULL,
	last_heartbeat_at BIGINT,
	last_sync_at BIGINT,
	pending_transactions INTEGER NOT NULL,
	cloned_at BIGINT,
	runs VARCHAR(4000),
	epoch INTEGER NOT NULL,
	instance_id VARCHAR(36),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	pos_group_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_local_deployments__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_local_deployments__pos_group_id FOREIGN KEY(tenant_id, pos_group_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_local_deployments__store_code UNIQUE (tenant_id, store_code)
);

CREATE INDEX ix_local_deployments__pos_group_id ON local_deployments (tenant_id, pos_group_id);

CREATE TABLE loyalty_tiers_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255),
	description VARCHAR(1000),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_loyalty_tiers_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_loyalty_tiers_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_loyalty_tiers_drafts__draft ON loyalty_tiers_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_loyalty_tiers_drafts__owner ON loyalty_tiers_drafts (tenant_id, draft_owner);

CREATE TABLE mutual_exclusion_groups_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255),
	description VARCHAR(1000),
	resolution_strategy VARCHAR(30),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_mutual_exclusion_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_mutual_exclusion_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_mutual_exclusion_groups_drafts__draft ON mutual_exclusion_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_mutual_exclusion_groups_drafts__owner ON mutual_exclusion_groups_drafts (tenant_id, draft_owner);

CREATE TABLE pilot_pos_groups_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	config_id VARCHAR(36),
	pos_group_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_pilot_pos_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_pilot_pos_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_pilot_pos_groups_drafts__draft ON pilot_pos_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_pilot_pos_groups_drafts__parent ON pilot_pos_groups_drafts (tenant_id, config_id);

CREATE TABLE pos_groups_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(20),
	name VARCHAR(255),
	description VARCHAR(1000),
	currency VARCHAR(3),
	time_zone VARCHAR(64),
	country VARCHAR(2),
	is_active BOOLEAN,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	parent_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_pos_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_pos_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_pos_groups_drafts__draft ON pos_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_pos_groups_drafts__owner ON pos_groups_drafts (tenant_id, draft_owner);

CREATE TABLE priority_groups_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255),
	description VARCHAR(1000),
	priority INTEGER,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_priority_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_priority_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_priority_groups_drafts__draft ON priority_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_priority_groups_drafts__owner ON priority_groups_drafts (tenant_id, draft_owner);

CREATE TABLE promotion_forecast_amounts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	currency VARCHAR(3) NOT NULL,
	baskets_replayed INTEGER NOT NULL,
	baskets_affected INTEGER NOT NULL,
	discount BIGINT NOT NULL,
	give_away_value BIGINT NOT NULL,
	discount_without BIGINT NOT NULL,
	discount_with BIGINT NOT NULL,
	discount_change BIGINT NOT NULL,
	net_sales_without BIGINT NOT NULL,
	net_sales_with BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	forecast_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_forecast_amounts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_forecast_amounts__forecast_id FOREIGN KEY(tenant_id, forecast_id) REFERENCES promotion_forecasts (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT uq_promotion_forecast_amounts__forecast_id_currency UNIQUE (tenant_id, forecast_id, currency)
);

CREATE TABLE promotion_forecast_budgets (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	budget_name VARCHAR(255) NOT NULL,
	currency VARCHAR(3) NOT NULL,
	remaining_before BIGINT NOT NULL,
	consumption BIGINT NOT NULL,
	consumption_by_others BIGINT NOT NULL,
	remaining_after BIGINT NOT NULL,
	exhausted_on DATE,
	baskets_limited INTEGER NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	forecast_id VARCHAR(36) NOT NULL,
	budget_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_forecast_budgets__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_forecast_budgets__forecast_id FOREIGN KEY(tenant_id, forecast_id) REFERENCES promotion_forecasts (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT uq_promotion_forecast_budgets__forecast_id_budget_id UNIQUE (tenant_id, forecast_id, budget_id)
);

CREATE INDEX ix_promotion_forecast_budgets__budget_id ON promotion_forecast_budgets (tenant_id, budget_id);

CREATE TABLE promotion_forecast_displacements (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	promotion_name VARCHAR(255) NOT NULL,
	currency VARCHAR(3) NOT NULL,
	applications_lost INTEGER NOT NULL,
	applications_gained INTEGER NOT NULL,
	discount_lost BIGINT NOT NULL,
	discount_gained BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	forecast_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_forecast_displacements__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_forecast_displacements__forecast_id FOREIGN KEY(tenant_id, forecast_id) REFERENCES promotion_forecasts (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT uq_promotion_forecast_displacements__forecast_id_promo_b4040732 UNIQUE (tenant_id, forecast_id, promotion_id, currency)
);

CREATE INDEX ix_promotion_forecast_displacements__forecast_id_currency ON promotion_forecast_displacements (tenant_id, forecast_id, currency);

CREATE TABLE promotion_pilot_configs_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	pilot_start_at BIGINT,
	pilot_end_at BIGINT,
	auto_promote BOOLEAN,
	auto_promote_threshold BIGINT,
	pilot_share BIGINT,
	control_group_size INTEGER,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_promotion_pilot_configs_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_pilot_configs_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_promotion_pilot_configs_drafts__draft ON promotion_pilot_configs_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_promotion_pilot_configs_drafts__owner ON promotion_pilot_configs_drafts (tenant_id, draft_owner);

CREATE TABLE promotion_pos_groups_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36),
	pos_group_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_promotion_pos_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_pos_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_promotion_pos_groups_drafts__draft ON promotion_pos_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_promotion_pos_groups_drafts__parent ON promotion_pos_groups_drafts (tenant_id, promotion_id);

CREATE TABLE promotion_templates (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	use_case VARCHAR(30),
	type VARCHAR(30),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	priority_group_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_templates__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_templates__priority_group_id FOREIGN KEY(tenant_id, priority_group_id) REFERENCES priority_groups (tenant_id, id),
	CONSTRAINT uq_promotion_templates__code UNIQUE (tenant_id, code)
);

CREATE INDEX ix_promotion_templates__priority_group_id ON promotion_templates (tenant_id, priority_group_id);

CREATE TABLE promotion_templates_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255),
	description VARCHAR(1000),
	use_case VARCHAR(30),
	type VARCHAR(30),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	priority_group_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_promotion_templates_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_templates_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_promotion_templates_drafts__draft ON promotion_templates_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_promotion_templates_drafts__owner ON promotion_templates_drafts (tenant_id, draft_owner);

CREATE TABLE promotions_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255),
	description VARCHAR(1000),
	type VARCHAR(30),
	status VARCHAR(30),
	valid_from BIGINT,
	valid_to BIGINT,
	priority INTEGER,
	exclusivity_level VARCHAR(30),
	currency VARCHAR(3),
	max_applications_per_transaction INTEGER,
	max_applications_per_customer INTEGER,
	max_applications_total INTEGER,
	counts_towards_threshold BOOLEAN,
	excluded_counts_towards_threshold BOOLEAN,
	applications_count INTEGER,
	return_policy VARCHAR(30),
	is_experiment BOOLEAN,
	control_group_id VARCHAR(36),
	experiment_group_id VARCHAR(36),
	external_reference VARCHAR(100),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	mutual_exclusion_group_id VARCHAR(36),
	campaign_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_promotions_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotions_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_promotions_drafts__draft ON promotions_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_promotions_drafts__owner ON promotions_drafts (tenant_id, draft_owner);

CREATE TABLE recharge_contributions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	amount BIGINT NOT NULL,
	currency VARCHAR(3),
	contributed_at BIGINT,
	reference VARCHAR(100),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	budget_id VARCHAR(36) NOT NULL,
	stakeholder_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_recharge_contributions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_recharge_contributions__amount_min CHECK (amount >= 0),
	CONSTRAINT fk_recharge_contributions__budget_id FOREIGN KEY(tenant_id, budget_id) REFERENCES budgets (tenant_id, id),
	CONSTRAINT fk_recharge_contributions__stakeholder_id FOREIGN KEY(tenant_id, stakeholder_id) REFERENCES stakeholders (tenant_id, id)
);

CREATE INDEX ix_recharge_contributions__budget_id_contributed_at ON recharge_contributions (tenant_id, budget_id, contributed_at);

CREATE INDEX ix_recharge_contributions__stakeholder_id ON recharge_contributions (tenant_id, stakeholder_id);

CREATE TABLE stakeholders_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255),
	type VARCHAR(30),
	contact_name VARCHAR(255),
	email VARCHAR(255),
	phone VARCHAR(50),
	is_active BOOLEAN,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_stakeholders_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_stakeholders_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_stakeholders_drafts__draft ON stakeholders_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_stakeholders_drafts__owner ON stakeholders_drafts (tenant_id, draft_owner);

CREATE TABLE template_condition_article_list_items_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	ean VARCHAR(18),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	condition_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_template_condition_article_list_items_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_condition_article_list_items_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_condition_article_list_items_drafts__draft ON template_condition_article_list_items_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_condition_article_list_items_drafts__parent ON template_condition_article_list_items_drafts (tenant_id, condition_id);

CREATE TABLE template_condition_value_list_items_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	value VARCHAR(255),
	value_category VARCHAR(30),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	condition_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_template_condition_value_list_items_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_condition_value_list_items_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_condition_value_list_items_drafts__draft ON template_condition_value_list_items_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_condition_value_list_items_drafts__parent ON template_condition_value_list_items_drafts (tenant_id, condition_id);

CREATE TABLE template_conditions_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER,
	logical_connector VARCHAR(30),
	condition_type VARCHAR(30),
	operator VARCHAR(30),
	value_category VARCHAR(30),
	value VARCHAR(255),
	value_to VARCHAR(255),
	article_number VARCHAR(50),
	article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN,
	manufacturer VARCHAR(255),
	field_name VARCHAR(100),
	min_quantity BIGINT,
	min_amount BIGINT,
	time_from TIME,
	time_to TIME,
	weekdays VARCHAR(27),
	date_from DATE,
	date_to DATE,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	article_id VARCHAR(36),
	article_group_id VARCHAR(36),
	template_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_template_conditions_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_conditions_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_conditions_drafts__draft ON template_conditions_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_conditions_drafts__parent ON template_conditions_drafts (tenant_id, template_id);

CREATE TABLE template_discount_action_article_list_items_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	ean VARCHAR(18),
	fixed_price BIGINT,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	action_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_template_discount_action_article_list_items_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_article_list_items_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_article_list_items_drafts__draft ON template_discount_action_article_list_items_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_action_article_list_items_drafts__parent ON template_discount_action_article_list_items_drafts (tenant_id, action_id);

CREATE TABLE template_discount_action_bundle_components_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER,
	article_number VARCHAR(50),
	article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN,
	quantity BIGINT,
	discounted BOOLEAN,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	article_id VARCHAR(36),
	article_group_id VARCHAR(36),
	action_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_template_discount_action_bundle_components_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_bundle_components_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_bundle_components_drafts__draft ON template_discount_action_bundle_components_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_action_bundle_components_drafts__parent ON template_discount_action_bundle_components_drafts (tenant_id, action_id);

CREATE TABLE template_discount_action_exclusion_article_list_items_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	ean VARCHAR(18),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	exclusion_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_ate_discount_action_exclusion_article_list_items_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_e_discount_action_exclusion_article_list_items_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix__discount_action_exclusion_article_list_items_drafts__parent ON template_discount_action_exclusion_article_list_items_drafts (tenant_id, exclusion_id);

CREATE INDEX ix_e_discount_action_exclusion_article_list_items_drafts__draft ON template_discount_action_exclusion_article_list_items_drafts (tenant_id, draft_uuid);

CREATE TABLE template_discount_action_exclusions_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	exclusion_type VARCHAR(30),
	article_number VARCHAR(50),
	article_group_key VARCHAR(20),
	manufacturer VARCHAR(255),
	field_name VARCHAR(100),
	value VARCHAR(255),
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	article_group_id VARCHAR(36),
	action_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_template_discount_action_exclusions_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_exclusions_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_exclusions_drafts__draft ON template_discount_action_exclusions_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_action_exclusions_drafts__parent ON template_discount_action_exclusions_drafts (tenant_id, action_id);

CREATE TABLE template_discount_action_quantity_tiers_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER,
	discount_type VARCHAR(30),
	discount_value BIGINT,
	min_quantity BIGINT,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	action_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_template_discount_action_quantity_tiers_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_quantity_tiers_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_quantity_tiers_drafts__draft ON template_discount_action_quantity_tiers_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_action_quantity_tiers_drafts__parent ON template_discount_action_quantity_tiers_drafts (tenant_id, action_id);

CREATE TABLE template_discount_action_scaled_tiers_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER,
	discount_type VARCHAR(30),
	discount_value BIGINT,
	threshold_amount BIGINT,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	action_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_template_discount_action_scaled_tiers_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_scaled_tiers_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_scaled_tiers_drafts__draft ON template_discount_action_scaled_tiers_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_action_scaled_tiers_drafts__parent ON template_discount_action_scaled_tiers_drafts (tenant_id, action_id);

CREATE TABLE template_discount_actions_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER,
	action_type VARCHAR(30),
	discount_type VARCHAR(30),
	discount_value BIGINT,
	max_discount_amount BIGINT,
	target_article_number VARCHAR(50),
	target_article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN,
	target_article_list BOOLEAN,
	selection_type VARCHAR(30),
	application_quantity_mode VARCHAR(30),
	application_quantity BIGINT,
	distribution_mode VARCHAR(30),
	max_bundles INTEGER,
	free_item_article_number VARCHAR(50),
	free_item_quantity BIGINT,
	restrict_to_one_per_basket BOOLEAN,
	free_item_reference_price BIGINT,
	max_free_units BIGINT,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	target_article_id VARCHAR(36),
	target_article_group_id VARCHAR(36),
	target_coupon_type_id VARCHAR(36),
	template_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_template_discount_actions_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_actions_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_actions_drafts__draft ON template_discount_actions_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_actions_drafts__parent ON template_discount_actions_drafts (tenant_id, template_id);

CREATE TABLE template_loyalty_actions_drafts (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	action_type VARCHAR(30),
	points BIGINT,
	multiplier BIGINT,
	currency_amount BIGINT,
	target_scope VARCHAR(30),
	target_article_number VARCHAR(50),
	target_article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN,
	max_points BIGINT,
	created_at BIGINT,
	created_by VARCHAR(255),
	modified_at BIGINT,
	modified_by VARCHAR(255),
	template_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) NOT NULL,
	draft_owner VARCHAR(255) NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_template_loyalty_actions_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_loyalty_actions_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_loyalty_actions_drafts__draft ON template_loyalty_actions_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_loyalty_actions_drafts__parent ON template_loyalty_actions_drafts (tenant_id, template_id);

CREATE TABLE campaign_pos_groups (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	campaign_id VARCHAR(36) NOT NULL,
	pos_group_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_campaign_pos_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_campaign_pos_groups__campaign_id FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT fk_campaign_pos_groups__pos_group_id FOREIGN KEY(tenant_id, pos_group_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_campaign_pos_groups__campaign_id_pos_group_id UNIQUE (tenant_id, campaign_id, pos_group_id)
);

CREATE INDEX ix_campaign_pos_groups__pos_group_id ON campaign_pos_groups (tenant_id, pos_group_id);

CREATE TABLE promotions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	type VARCHAR(30) NOT NULL,
	status VARCHAR(30) NOT NULL,
	valid_from BIGINT,
	valid_to BIGINT,
	priority INTEGER NOT NULL,
	exclusivity_level VARCHAR(30) NOT NULL,
	currency VARCHAR(3),
	max_applications_per_transaction INTEGER,
	max_applications_per_customer INTEGER,
	max_applications_total INTEGER,
	counts_towards_threshold BOOLEAN,
	excluded_counts_towards_threshold BOOLEAN,
	applications_count INTEGER NOT NULL,
	return_policy VARCHAR(30) NOT NULL,
	is_experiment BOOLEAN NOT NULL,
	control_group_id VARCHAR(36),
	experiment_group_id VARCHAR(36),
	external_reference VARCHAR(100),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	mutual_exclusion_group_id VARCHAR(36),
	campaign_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_promotions__max_applications_per_transaction_min CHECK (max_applications_per_transaction >= 0),
	CONSTRAINT ck_promotions__max_applications_per_customer_min CHECK (max_applications_per_customer >= 0),
	CONSTRAINT ck_promotions__max_applications_total_min CHECK (max_applications_total >= 0),
	CONSTRAINT fk_promotions__mutual_exclusion_group_id FOREIGN KEY(tenant_id, mutual_exclusion_group_id) REFERENCES mutual_exclusion_groups (tenant_id, id),
	CONSTRAINT fk_promotions__campaign_id FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id),
	CONSTRAINT uq_promotions__code UNIQUE (tenant_id, code)
);

CREATE INDEX ix_promotions__campaign_id ON promotions (tenant_id, campaign_id);

CREATE INDEX ix_promotions__modified_at ON promotions (tenant_id, modified_at);

CREATE INDEX ix_promotions__mutual_exclusion_group_id ON promotions (tenant_id, mutual_exclusion_group_id);

CREATE INDEX ix_promotions__status_valid_to ON promotions (tenant_id, status, valid_to);

CREATE TABLE sync_history (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	direction VARCHAR(30) NOT NULL,
	started_at BIGINT NOT NULL,
	completed_at BIGINT,
	promotions INTEGER NOT NULL,
	transactions INTEGER NOT NULL,
	status VARCHAR(30) NOT NULL,
	message VARCHAR(1000),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	deployment_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_sync_history__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_sync_history__deployment_id FOREIGN KEY(tenant_id, deployment_id) REFERENCES local_deployments (tenant_id, id)
);

CREATE INDEX ix_sync_history__deployment_id_started_at ON sync_history (tenant_id, deployment_id, started_at);

CREATE TABLE template_conditions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	logical_connector VARCHAR(30) NOT NULL,
	condition_type VARCHAR(30) NOT NULL,
	operator VARCHAR(30),
	value_category VARCHAR(30),
	value VARCHAR(255),
	value_to VARCHAR(255),
	article_number VARCHAR(50),
	article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN NOT NULL,
	manufacturer VARCHAR(255),
	field_name VARCHAR(100),
	min_quantity BIGINT,
	min_amount BIGINT,
	time_from TIME,
	time_to TIME,
	weekdays VARCHAR(27),
	date_from DATE,
	date_to DATE,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	article_id VARCHAR(36),
	article_group_id VARCHAR(36),
	template_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_conditions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_conditions__min_quantity_min CHECK (min_quantity >= 0),
	CONSTRAINT ck_template_conditions__min_amount_min CHECK (min_amount >= 0),
	CONSTRAINT fk_template_conditions__article_id FOREIGN KEY(tenant_id, article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_template_conditions__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_template_conditions__template_id FOREIGN KEY(tenant_id, template_id) REFERENCES promotion_templates (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_conditions__article_group_id ON template_conditions (tenant_id, article_group_id);

CREATE INDEX ix_template_conditions__article_id ON template_conditions (tenant_id, article_id);

CREATE INDEX ix_template_conditions__template_id ON template_conditions (tenant_id, template_id);

CREATE TABLE template_discount_actions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	action_type VARCHAR(30) NOT NULL,
	discount_type VARCHAR(30),
	discount_value BIGINT,
	max_discount_amount BIGINT,
	target_article_number VARCHAR(50),
	target_article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN NOT NULL,
	target_article_list BOOLEAN NOT NULL,
	selection_type VARCHAR(30),
	application_quantity_mode VARCHAR(30),
	application_quantity BIGINT,
	distribution_mode VARCHAR(30),
	max_bundles INTEGER,
	free_item_article_number VARCHAR(50),
	free_item_quantity BIGINT,
	restrict_to_one_per_basket BOOLEAN NOT NULL,
	free_item_reference_price BIGINT,
	max_free_units BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	target_article_id VARCHAR(36),
	target_article_group_id VARCHAR(36),
	target_coupon_type_id VARCHAR(36),
	template_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_actions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_discount_actions__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_template_discount_actions__max_discount_amount_min CHECK (max_discount_amount >= 0),
	CONSTRAINT ck_template_discount_actions__application_quantity_min CHECK (application_quantity >= 0),
	CONSTRAINT ck_template_discount_actions__max_bundles_min CHECK (max_bundles >= 0),
	CONSTRAINT ck_template_discount_actions__free_item_quantity_min CHECK (free_item_quantity >= 0),
	CONSTRAINT ck_template_discount_actions__free_item_reference_price_min CHECK (free_item_reference_price >= 0),
	CONSTRAINT ck_template_discount_actions__max_free_units_min CHECK (max_free_units >= 0),
	CONSTRAINT fk_template_discount_actions__target_article_id FOREIGN KEY(tenant_id, target_article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_template_discount_actions__target_article_group_id FOREIGN KEY(tenant_id, target_article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_template_discount_actions__target_coupon_type_id FOREIGN KEY(tenant_id, target_coupon_type_id) REFERENCES coupon_types (tenant_id, id),
	CONSTRAINT fk_template_discount_actions__template_id FOREIGN KEY(tenant_id, template_id) REFERENCES promotion_templates (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_actions__target_article_group_id ON template_discount_actions (tenant_id, target_article_group_id);

CREATE INDEX ix_template_discount_actions__target_article_id ON template_discount_actions (tenant_id, target_article_id);

CREATE INDEX ix_template_discount_actions__target_coupon_type_id ON template_discount_actions (tenant_id, target_coupon_type_id);

CREATE INDEX ix_template_discount_actions__template_id ON template_discount_actions (tenant_id, template_id);

CREATE TABLE template_loyalty_actions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	action_type VARCHAR(30) NOT NULL,
	points BIGINT,
	multiplier BIGINT,
	currency_amount BIGINT,
	target_scope VARCHAR(30) NOT NULL,
	target_article_number VARCHAR(50),
	target_article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN NOT NULL,
	max_points BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	template_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_loyalty_actions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_loyalty_actions__points_min CHECK (points >= 0),
	CONSTRAINT ck_template_loyalty_actions__multiplier_min CHECK (multiplier >= 0),
	CONSTRAINT ck_template_loyalty_actions__currency_amount_min CHECK (currency_amount >= 0),
	CONSTRAINT ck_template_loyalty_actions__max_points_min CHECK (max_points >= 0),
	CONSTRAINT fk_template_loyalty_actions__template_id FOREIGN KEY(tenant_id, template_id) REFERENCES promotion_templates (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_loyalty_actions__template_id ON template_loyalty_actions (tenant_id, template_id);

CREATE TABLE basket_tests (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	name VARCHAR(255) NOT NULL,
	description VARCHAR(1000),
	status VARCHAR(30) NOT NULL,
	request VARCHAR(65536) NOT NULL,
	priced_at BIGINT,
	expected_total BIGINT NOT NULL,
	currency VARCHAR(3),
	expected_promotions TEXT,
	last_run_at BIGINT,
	actual_total BIGINT,
	actual_promotions TEXT,
	difference VARCHAR(1000),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_basket_tests__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_basket_tests__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id)
);

CREATE INDEX ix_basket_tests__promotion_id ON basket_tests (tenant_id, promotion_id);

CREATE TABLE budget_promotions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	budget_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budget_promotions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_budget_promotions__budget_id FOREIGN KEY(tenant_id, budget_id) REFERENCES budgets (tenant_id, id),
	CONSTRAINT fk_budget_promotions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id),
	CONSTRAINT uq_budget_promotions__promotion_id_budget_id UNIQUE (tenant_id, promotion_id, budget_id)
);

CREATE INDEX ix_budget_promotions__budget_id ON budget_promotions (tenant_id, budget_id);

CREATE TABLE calculation_configs (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	mode VARCHAR(30) NOT NULL,
	rounding VARCHAR(30) NOT NULL,
	precision INTEGER,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_calculation_configs__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_calculation_configs__precision_min CHECK (precision >= 0),
	CONSTRAINT ck_calculation_configs__precision_max CHECK (precision <= 3),
	CONSTRAINT fk_calculation_configs__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT uq_calculation_configs__promotion_id UNIQUE (tenant_id, promotion_id)
);

CREATE TABLE conditions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	logical_connector VARCHAR(30) NOT NULL,
	condition_type VARCHAR(30) NOT NULL,
	operator VARCHAR(30),
	value_category VARCHAR(30),
	value VARCHAR(255),
	value_to VARCHAR(255),
	article_number VARCHAR(50),
	article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN NOT NULL,
	manufacturer VARCHAR(255),
	field_name VARCHAR(100),
	min_quantity BIGINT,
	min_amount BIGINT,
	time_from TIME,
	time_to TIME,
	weekdays VARCHAR(27),
	date_from DATE,
	date_to DATE,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	article_id VARCHAR(36),
	article_group_id VARCHAR(36),
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_conditions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_conditions__min_quantity_min CHECK (min_quantity >= 0),
	CONSTRAINT ck_conditions__min_amount_min CHECK (min_amount >= 0),
	CONSTRAINT fk_conditions__article_id FOREIGN KEY(tenant_id, article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_conditions__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_conditions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_conditions__article_group_id ON conditions (tenant_id, article_group_id);

CREATE INDEX ix_conditions__article_id ON conditions (tenant_id, article_id);

CREATE INDEX ix_conditions__promotion_id ON conditions (tenant_id, promotion_id);

CREATE TABLE coupon_type_promotions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	coupon_type_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_type_promotions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_coupon_type_promotions__coupon_type_id FOREIGN KEY(tenant_id, coupon_type_id) REFERENCES coupon_types (tenant_id, id),
	CONSTRAINT fk_coupon_type_promotions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id),
	CONSTRAINT uq_coupon_type_promotions__promotion_id_coupon_type_id UNIQUE (tenant_id, promotion_id, coupon_type_id)
);

CREATE INDEX ix_coupon_type_promotions__coupon_type_id ON coupon_type_promotions (tenant_id, coupon_type_id);

CREATE TABLE discount_actions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	action_type VARCHAR(30) NOT NULL,
	discount_type VARCHAR(30),
	discount_value BIGINT,
	max_discount_amount BIGINT,
	target_article_number VARCHAR(50),
	target_article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN NOT NULL,
	target_article_list BOOLEAN NOT NULL,
	selection_type VARCHAR(30),
	application_quantity_mode VARCHAR(30),
	application_quantity BIGINT,
	distribution_mode VARCHAR(30),
	max_bundles INTEGER,
	free_item_article_number VARCHAR(50),
	free_item_quantity BIGINT,
	restrict_to_one_per_basket BOOLEAN NOT NULL,
	free_item_reference_price BIGINT,
	max_free_units BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	target_article_id VARCHAR(36),
	target_article_group_id VARCHAR(36),
	target_coupon_type_id VARCHAR(36),
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_discount_actions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_discount_actions__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_discount_actions__max_discount_amount_min CHECK (max_discount_amount >= 0),
	CONSTRAINT ck_discount_actions__application_quantity_min CHECK (application_quantity >= 0),
	CONSTRAINT ck_discount_actions__max_bundles_min CHECK (max_bundles >= 0),
	CONSTRAINT ck_discount_actions__free_item_quantity_min CHECK (free_item_quantity >= 0),
	CONSTRAINT ck_discount_actions__free_item_reference_price_min CHECK (free_item_reference_price >= 0),
	CONSTRAINT ck_discount_actions__max_free_units_min CHECK (max_free_units >= 0),
	CONSTRAINT fk_discount_actions__target_article_id FOREIGN KEY(tenant_id, target_article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_discount_actions__target_article_group_id FOREIGN KEY(tenant_id, target_article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_discount_actions__target_coupon_type_id FOREIGN KEY(tenant_id, target_coupon_type_id) REFERENCES coupon_types (tenant_id, id),
	CONSTRAINT fk_discount_actions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_discount_actions__promotion_id ON discount_actions (tenant_id, promotion_id);

CREATE INDEX ix_discount_actions__target_article_group_id ON discount_actions (tenant_id, target_article_group_id);

CREATE INDEX ix_discount_actions__target_article_id ON discount_actions (tenant_id, target_article_id);

CREATE INDEX ix_discount_actions__target_coupon_type_id ON discount_actions (tenant_id, target_coupon_type_id);

CREATE TABLE loyalty_actions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	action_type VARCHAR(30) NOT NULL,
	points BIGINT,
	multiplier BIGINT,
	currency_amount BIGINT,
	target_scope VARCHAR(30) NOT NULL,
	target_article_number VARCHAR(50),
	target_article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN NOT NULL,
	max_points BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_loyalty_actions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_loyalty_actions__points_min CHECK (points >= 0),
	CONSTRAINT ck_loyalty_actions__multiplier_min CHECK (multiplier >= 0),
	CONSTRAINT ck_loyalty_actions__currency_amount_min CHECK (currency_amount >= 0),
	CONSTRAINT ck_loyalty_actions__max_points_min CHECK (max_points >= 0),
	CONSTRAINT fk_loyalty_actions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_loyalty_actions__promotion_id ON loyalty_actions (tenant_id, promotion_id);

CREATE TABLE priority_group_promotions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	priority_group_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_priority_group_promotions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_priority_group_promotions__priority_group_id FOREIGN KEY(tenant_id, priority_group_id) REFERENCES priority_groups (tenant_id, id),
	CONSTRAINT fk_priority_group_promotions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id),
	CONSTRAINT uq_priority_group_promotions__promotion_id UNIQUE (tenant_id, promotion_id)
);

CREATE INDEX ix_priority_group_promotions__priority_group_id ON priority_group_promotions (tenant_id, priority_group_id);

CREATE TABLE promotion_pilot_configs (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	pilot_start_at BIGINT NOT NULL,
	pilot_end_at BIGINT NOT NULL,
	auto_promote BOOLEAN NOT NULL,
	auto_promote_threshold BIGINT,
	pilot_share BIGINT NOT NULL,
	control_group_size INTEGER NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_pilot_configs__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_promotion_pilot_configs__pilot_share_min CHECK (pilot_share >= 0),
	CONSTRAINT ck_promotion_pilot_configs__pilot_share_max CHECK (pilot_share <= 100),
	CONSTRAINT ck_promotion_pilot_configs__control_group_size_min CHECK (control_group_size >= 0),
	CONSTRAINT ck_promotion_pilot_configs__control_group_size_max CHECK (control_group_size <= 999999),
	CONSTRAINT fk_promotion_pilot_configs__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id),
	CONSTRAINT uq_promotion_pilot_configs__promotion_id UNIQUE (tenant_id, promotion_id)
);

CREATE TABLE promotion_pos_groups (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	promotion_id VARCHAR(36) NOT NULL,
	pos_group_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_pos_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_pos_groups__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT fk_promotion_pos_groups__pos_group_id FOREIGN KEY(tenant_id, pos_group_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_promotion_pos_groups__promotion_id_pos_group_id UNIQUE (tenant_id, promotion_id, pos_group_id)
);

CREATE INDEX ix_promotion_pos_groups__pos_group_id ON promotion_pos_groups (tenant_id, pos_group_id);

CREATE TABLE stakeholder_promotions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	share_percentage BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	stakeholder_id VARCHAR(36) NOT NULL,
	promotion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_stakeholder_promotions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_stakeholder_promotions__share_percentage_min CHECK (share_percentage >= 0),
	CONSTRAINT ck_stakeholder_promotions__share_percentage_max CHECK (share_percentage <= 10000),
	CONSTRAINT fk_stakeholder_promotions__stakeholder_id FOREIGN KEY(tenant_id, stakeholder_id) REFERENCES stakeholders (tenant_id, id),
	CONSTRAINT fk_stakeholder_promotions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id),
	CONSTRAINT uq_stakeholder_promotions__stakeholder_id_promotion_id UNIQUE (tenant_id, stakeholder_id, promotion_id)
);

CREATE INDEX ix_stakeholder_promotions__promotion_id ON stakeholder_promotions (tenant_id, promotion_id);

CREATE TABLE template_condition_article_list_items (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	ean VARCHAR(18),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	condition_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_condition_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_condition_article_list_items__condition_id FOREIGN KEY(tenant_id, condition_id) REFERENCES template_conditions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_condition_article_list_items__condition_id ON template_condition_article_list_items (tenant_id, condition_id);

CREATE TABLE template_condition_value_list_items (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	value VARCHAR(255) NOT NULL,
	value_category VARCHAR(30),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	condition_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_condition_value_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_condition_value_list_items__condition_id FOREIGN KEY(tenant_id, condition_id) REFERENCES template_conditions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_condition_value_list_items__condition_id ON template_condition_value_list_items (tenant_id, condition_id);

CREATE TABLE template_discount_action_article_list_items (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	ean VARCHAR(18),
	fixed_price BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_discount_action_article_list_items__fixed_price_min CHECK (fixed_price >= 0),
	CONSTRAINT fk_template_discount_action_article_list_items__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES template_discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_article_list_items__action_id ON template_discount_action_article_list_items (tenant_id, action_id);

CREATE TABLE template_discount_action_bundle_components (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	article_number VARCHAR(50),
	article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN NOT NULL,
	quantity BIGINT NOT NULL,
	discounted BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	article_id VARCHAR(36),
	article_group_id VARCHAR(36),
	action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_bundle_components__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_discount_action_bundle_components__quantity_min CHECK (quantity >= 0),
	CONSTRAINT fk_template_discount_action_bundle_components__article_id FOREIGN KEY(tenant_id, article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_template_discount_action_bundle_components__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_template_discount_action_bundle_components__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES template_discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_bundle_components__action_id ON template_discount_action_bundle_components (tenant_id, action_id);

CREATE INDEX ix_template_discount_action_bundle_components__article_group_id ON template_discount_action_bundle_components (tenant_id, article_group_id);

CREATE INDEX ix_template_discount_action_bundle_components__article_id ON template_discount_action_bundle_components (tenant_id, article_id);

CREATE TABLE template_discount_action_exclusions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	exclusion_type VARCHAR(30) NOT NULL,
	article_number VARCHAR(50),
	article_group_key VARCHAR(20),
	manufacturer VARCHAR(255),
	field_name VARCHAR(100),
	value VARCHAR(255),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	article_group_id VARCHAR(36),
	action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_exclusions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_exclusions__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_template_discount_action_exclusions__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES template_discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_exclusions__action_id ON template_discount_action_exclusions (tenant_id, action_id);

CREATE INDEX ix_template_discount_action_exclusions__article_group_id ON template_discount_action_exclusions (tenant_id, article_group_id);

CREATE TABLE template_discount_action_quantity_tiers (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	discount_type VARCHAR(30) NOT NULL,
	discount_value BIGINT NOT NULL,
	min_quantity BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_quantity_tiers__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_discount_action_quantity_tiers__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_template_discount_action_quantity_tiers__min_quantity_min CHECK (min_quantity >= 0),
	CONSTRAINT fk_template_discount_action_quantity_tiers__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES template_discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_quantity_tiers__action_id ON template_discount_action_quantity_tiers (tenant_id, action_id);

CREATE TABLE template_discount_action_scaled_tiers (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	discount_type VARCHAR(30) NOT NULL,
	discount_value BIGINT NOT NULL,
	threshold_amount BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_scaled_tiers__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_discount_action_scaled_tiers__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_template_discount_action_scaled_tiers__threshold_amount_min CHECK (threshold_amount >= 0),
	CONSTRAINT fk_template_discount_action_scaled_tiers__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES template_discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_scaled_tiers__action_id ON template_discount_action_scaled_tiers (tenant_id, action_id);

CREATE TABLE action_article_list_items (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	ean VARCHAR(18),
	fixed_price BIGINT,
	action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_action_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_action_article_list_items__fixed_price_min CHECK (fixed_price >= 0),
	CONSTRAINT fk_action_article_list_items__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_action_article_list_items__action_id ON action_article_list_items (tenant_id, action_id);

CREATE TABLE action_exclusions (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	exclusion_type VARCHAR(30) NOT NULL,
	article_number VARCHAR(50),
	article_group_key VARCHAR(20),
	manufacturer VARCHAR(255),
	field_name VARCHAR(100),
	value VARCHAR(255),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	article_group_id VARCHAR(36),
	action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_action_exclusions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_action_exclusions__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_action_exclusions__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_action_exclusions__action_id ON action_exclusions (tenant_id, action_id);

CREATE INDEX ix_action_exclusions__article_group_id ON action_exclusions (tenant_id, article_group_id);

CREATE TABLE action_quantity_tiers (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	discount_type VARCHAR(30) NOT NULL,
	discount_value BIGINT NOT NULL,
	min_quantity BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_action_quantity_tiers__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_action_quantity_tiers__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_action_quantity_tiers__min_quantity_min CHECK (min_quantity >= 0),
	CONSTRAINT fk_action_quantity_tiers__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_action_quantity_tiers__action_id ON action_quantity_tiers (tenant_id, action_id);

CREATE TABLE action_scaled_tiers (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	discount_type VARCHAR(30) NOT NULL,
	discount_value BIGINT NOT NULL,
	threshold_amount BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_action_scaled_tiers__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_action_scaled_tiers__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_action_scaled_tiers__threshold_amount_min CHECK (threshold_amount >= 0),
	CONSTRAINT fk_action_scaled_tiers__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_action_scaled_tiers__action_id ON action_scaled_tiers (tenant_id, action_id);

CREATE TABLE bundle_components (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	sequence INTEGER NOT NULL,
	article_number VARCHAR(50),
	article_group_key VARCHAR(20),
	include_sub_groups BOOLEAN NOT NULL,
	quantity BIGINT NOT NULL,
	discounted BOOLEAN NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	article_id VARCHAR(36),
	article_group_id VARCHAR(36),
	action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_bundle_components__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_bundle_components__quantity_min CHECK (quantity >= 0),
	CONSTRAINT fk_bundle_components__article_id FOREIGN KEY(tenant_id, article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_bundle_components__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_bundle_components__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_bundle_components__action_id ON bundle_components (tenant_id, action_id);

CREATE INDEX ix_bundle_components__article_group_id ON bundle_components (tenant_id, article_group_id);

CREATE INDEX ix_bundle_components__article_id ON bundle_components (tenant_id, article_id);

CREATE TABLE condition_article_list_items (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	ean VARCHAR(18),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	condition_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_condition_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_condition_article_list_items__condition_id FOREIGN KEY(tenant_id, condition_id) REFERENCES conditions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_condition_article_list_items__condition_id ON condition_article_list_items (tenant_id, condition_id);

CREATE TABLE condition_value_list_items (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	value VARCHAR(255) NOT NULL,
	value_category VARCHAR(30),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	condition_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_condition_value_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_condition_value_list_items__condition_id FOREIGN KEY(tenant_id, condition_id) REFERENCES conditions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_condition_value_list_items__condition_id ON condition_value_list_items (tenant_id, condition_id);

CREATE TABLE control_pos_groups (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	config_id VARCHAR(36) NOT NULL,
	pos_group_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_control_pos_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_control_pos_groups__config_id FOREIGN KEY(tenant_id, config_id) REFERENCES promotion_pilot_configs (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT fk_control_pos_groups__pos_group_id FOREIGN KEY(tenant_id, pos_group_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_control_pos_groups__config_id_pos_group_id UNIQUE (tenant_id, config_id, pos_group_id)
);

CREATE INDEX ix_control_pos_groups__pos_group_id ON control_pos_groups (tenant_id, pos_group_id);

CREATE TABLE loyalty_action_article_list_items (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	ean VARCHAR(18),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	loyalty_action_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_loyalty_action_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_loyalty_action_article_list_items__loyalty_action_id FOREIGN KEY(tenant_id, loyalty_action_id) REFERENCES loyalty_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_loyalty_action_article_list_items__loyalty_action_id ON loyalty_action_article_list_items (tenant_id, loyalty_action_id);

CREATE TABLE pilot_pos_groups (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	config_id VARCHAR(36) NOT NULL,
	pos_group_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_pilot_pos_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_pilot_pos_groups__config_id FOREIGN KEY(tenant_id, config_id) REFERENCES promotion_pilot_configs (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT fk_pilot_pos_groups__pos_group_id FOREIGN KEY(tenant_id, pos_group_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_pilot_pos_groups__config_id_pos_group_id UNIQUE (tenant_id, config_id, pos_group_id)
);

CREATE INDEX ix_pilot_pos_groups__pos_group_id ON pilot_pos_groups (tenant_id, pos_group_id);

CREATE TABLE template_discount_action_exclusion_article_list_items (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	ean VARCHAR(18),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	exclusion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_exclusion_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_exclusion_article_list_ite_45e02c64 FOREIGN KEY(tenant_id, exclusion_id) REFERENCES template_discount_action_exclusions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_exclusion_article_list_ite_6549fca4 ON template_discount_action_exclusion_article_list_items (tenant_id, exclusion_id);

CREATE TABLE action_exclusion_article_list_items (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	article_number VARCHAR(50),
	ean VARCHAR(18),
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	exclusion_id VARCHAR(36) NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_action_exclusion_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_action_exclusion_article_list_items__exclusion_id FOREIGN KEY(tenant_id, exclusion_id) REFERENCES action_exclusions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_action_exclusion_article_list_items__exclusion_id ON action_exclusion_article_list_items (tenant_id, exclusion_id);
